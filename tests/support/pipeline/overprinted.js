// Returns the texts of figures that are upon another text of it, or outside of it.
const wrong = [];
const corners = text => {
  const box = text.getBBox(), at = text.getScreenCTM();
  return [[0, 0], [1, 0], [1, 1], [0, 1]].map(([right, down]) => {
    const x = box.x + right * box.width, y = box.y + down * box.height;
    return {x: at.a * x + at.c * y + at.e, y: at.b * x + at.d * y + at.f};
  });
};
// Two boxes are apart if they are so along a side of one of them: texts may be turned.
const meet = (one, other) => {
  for (const box of [one, other]) {
    for (let side = 0; side < 4; side++) {
      const from = box[side], to = box[(side + 1) % 4];
      const across = {x: to.y - from.y, y: from.x - to.x};
      const slack = 3 * (Math.hypot(across.x, across.y) || 1);
      const along = corner => corner.x * across.x + corner.y * across.y;
      const a = one.map(along), b = other.map(along);
      if (Math.max(...a) - slack <= Math.min(...b) || Math.max(...b) - slack <= Math.min(...a)) {
        return false;
      }
    }
  }
  return true;
};
document.querySelectorAll("figure").forEach((figure, number) => {
  const frame = figure.getBoundingClientRect();
  const texts = [...figure.querySelectorAll("svg text")].filter(text => {
    const style = getComputedStyle(text);
    return text.textContent.trim() && text.getBoundingClientRect().width > 0
      && style.display !== "none" && style.visibility !== "hidden" && style.opacity !== "0";
  });
  const boxes = texts.map(corners);
  boxes.forEach((box, index) => {
    const text = texts[index].textContent;
    for (let other = index + 1; other < boxes.length; other++) {
      if (meet(box, boxes[other])) wrong.push([number, text, texts[other].textContent]);
    }
    if (box.some(corner => corner.x < frame.left - 2 || corner.x > frame.right + 2
        || corner.y < frame.top - 2 || corner.y > frame.bottom + 2)) {
      wrong.push([number, text, "is outside"]);
    }
  });
});
return wrong;
