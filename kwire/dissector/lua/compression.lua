-- Unpacks record batches. gzip is Wireshark's; snappy and lz4 are read here; zstd only where
-- Wireshark offers it to Lua.

local unpacked -- Lua allows 200 local names in one scope.
do
  local MOST_UNPACKED = 8 * 1024 * 1024

  local unpack_table = table.unpack or unpack -- Lua 5.1 has it elsewhere

  -- Output of a block format, a number for each byte: literals, and copies of what is already there.
  local function new_output()
    local output = { size = 0 }
    local function grow(length)
      local size = output.size
      if size + length > MOST_UNPACKED then
        malformed("unpacks to more than " .. MOST_UNPACKED .. " bytes")
      end
      output.size = size + length
      return size
    end
    function output.append(source, first, length)
      local size = grow(length)
      for index = 0, length - 1 do
        output[size + index + 1] = byte(source, first + index)
      end
    end
    function output.copy(offset, length)
      if offset == 0 or offset > output.size then
        malformed("a copy from before the beginning")
      end
      local size = grow(length)
      for index = size + 1, size + length do
        output[index] = output[index - offset]
      end
    end
    function output.text()
      local pieces = {}
      for first = 1, output.size, 4096 do
        local last = math.min(first + 4095, output.size)
        pieces[#pieces + 1] = string.char(unpack_table(output, first, last))
      end
      return table.concat(pieces)
    end
    return output
  end

  local function little_endian(source, p, size)
    local value, factor = 0, 1
    for offset = 0, size - 1 do
      local digit = byte(source, p + offset)
      if not digit then
        malformed("compressed data is cut off")
      end
      value, factor = value + digit * factor, factor * 256
    end
    return value
  end

  -- Copies `length` bytes of the source at p; returns the position after them.
  local function literal(output, source, p, length)
    if p + length - 1 > #source then
      malformed("compressed data is cut off")
    end
    output.append(source, p, length)
    return p + length
  end

  local function unpack_snappy_block(output, source)
    local p = 1
    repeat -- the size after unpacking, which nothing here needs
      local digit = little_endian(source, p, 1)
      p = p + 1
    until digit < 128
    while p <= #source do
      local tag = byte(source, p)
      local kind, high = tag % 4, floor(tag / 4)
      p = p + 1
      if kind == 0 then
        local length = high
        if high > 59 then
          length = little_endian(source, p, high - 59)
          p = p + high - 59
        end
        p = literal(output, source, p, length + 1)
      elseif kind == 1 then
        output.copy(floor(tag / 32) * 256 + little_endian(source, p, 1), high % 8 + 4)
        p = p + 1
      else
        local size = kind == 2 and 2 or 4
        output.copy(little_endian(source, p, size), high + 1)
        p = p + size
      end
    end
  end

  -- Blocks in the frame of snappy-java, or one bare block.
  local function unpack_snappy(source)
    local output = new_output()
    if sub(source, 1, 8) ~= "\130SNAPPY\0" then
      unpack_snappy_block(output, source)
      return output
    end
    local p = 17
    while p <= #source do
      if sub(source, p, p + 7) == "\130SNAPPY\0" then
        p = p + 16
      else
        local a, b, c, d = byte(source, p, p + 3)
        local size = d and a * 16777216 + b * 65536 + c * 256 + d
        if not size or size > #source - p - 3 then
          malformed("snappy: a block is cut off")
        end
        unpack_snappy_block(output, sub(source, p + 4, p + 3 + size))
        p = p + 4 + size
      end
    end
    return output
  end

  local function lz4_length(source, p, length)
    if length == 15 then
      repeat
        local digit = little_endian(source, p, 1)
        length, p = length + digit, p + 1
      until digit < 255
    end
    return length, p
  end

  local function unpack_lz4_block(output, source)
    local p = 1
    while p <= #source do
      local token = byte(source, p)
      local length
      length, p = lz4_length(source, p + 1, floor(token / 16))
      p = literal(output, source, p, length)
      if p > #source then
        return -- the last sequence has only literals
      end
      local offset = little_endian(source, p, 2)
      length, p = lz4_length(source, p + 2, token % 16)
      output.copy(offset, length + 4)
    end
  end

  local function unpack_lz4(source)
    local output = new_output()
    if sub(source, 1, 4) ~= "\4\34\77\24" then
      malformed("lz4: no frame begins here")
    end
    local flags = little_endian(source, 5, 1)
    local has_checksums = floor(flags / 16) % 2 == 1
    local p = 8 + (floor(flags / 8) % 2 == 1 and 8 or 0)
    while true do
      local size = little_endian(source, p, 4)
      if size == 0 then
        return output
      end
      local is_plain = size >= 2147483648
      size = size % 2147483648
      if size > #source - p - 3 then
        malformed("lz4: a block is cut off")
      end
      local block = sub(source, p + 4, p + 3 + size)
      if is_plain then
        output.append(block, 1, #block)
      else
        unpack_lz4_block(output, block)
      end
      p = p + 4 + size + (has_checksums and 4 or 0)
    end
  end

  -- Calls a method of a range that not every Wireshark has; returns nil without it.
  local function wireshark_unpacks(bytes, ...)
    for _, name in ipairs({ ... }) do
      local found, method = pcall(function() return bytes[name] end)
      if found and method then
        local done, result = pcall(method, bytes, "Unpacked records")
        return done and result or nil
      end
    end
    return nil
  end

  -- Returns the unpacked bytes between two offsets as a range of a tvb of its own; nil if nothing here
  -- reads the codec, or the bytes are broken.
  unpacked = function(codec, first, last)
    local bytes = range(tvb, first, last - first)
    if codec == 1 then
      return wireshark_unpacks(bytes, "uncompress_zlib", "uncompress")
    elseif codec == 4 then
      return wireshark_unpacks(bytes, "uncompress_zstd")
    end
    local unpack = codec == 2 and unpack_snappy or codec == 3 and unpack_lz4
    if not unpack then
      return nil
    end
    local output = unpack(sub(data, first + 1, last))
    if output.size == 0 then
      return nil
    end
    return ByteArray.new(output.text(), true):tvb("Unpacked records"):range()
  end
end
