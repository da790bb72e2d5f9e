-- Reads values: adds each to the tree and moves on. `tvb` and `data` are the same bytes, for the tree
-- and for reading; `position` is the offset of the next one and `stop` that of the end.

local byte, sub, find, floor = string.byte, string.sub, string.find, math.floor

local tvb, data, position, stop = nil, "", 0, 0

-- The methods themselves: looking one up by its name costs as much as calling it.
local add, range, set_len, append_text, set_generated, set_hidden

-- Field n if the tree takes it. If nobody sees the tree, a filter may still want some fields.
local shown = {}
local SHOW_NONE = {}

-- Wireshark refuses more than a million items in a tree; a frame that claims so many is cut.
local MOST_ITEMS = 400000
local items = 0

-- What readers tell each other: the topic of the records that follow, the first error code, the
-- request that an envelope has.
local context = {}

-- Defined where frames are read.
local embedded_request, embedded_response

owner = records_proto -- and everything that may stand in records
local FIELD_NULL = field("kafka.null", ftypes.STRING)
local FIELD_EMPTY = field("kafka.empty", ftypes.STRING)
local FIELD_ERROR = field("kafka.error_code", ftypes.INT16, ERRORS)
local FIELD_TAG = field("kafka.unknown_tag", ftypes.UINT32)
local FIELD_TAG_DATA = field("kafka.unknown_tag.data", ftypes.BYTES)
local FIELD_LEFT_OVER = field("kafka.left_over", ftypes.BYTES)
owner = proto

-- True if record batches are to be read.
local wants_records = true

-- Ends the reading of a message: `within` catches it.
local function malformed(reason)
  error({ reason = reason, position = position }, 0)
end

local function cut(size)
  malformed(string.format("%.0f bytes claimed, %.0f left", size, math.max(0, stop - position)))
end

local function count_item()
  items = items + 1
  if items > MOST_ITEMS then
    malformed("more than " .. MOST_ITEMS .. " elements: the rest is not shown")
  end
end

local function fixed(size)
  return function(t, f)
    local p = position
    if stop - p < size then
      cut(size)
    end
    local wanted = shown[f]
    if wanted then
      add(t, wanted, range(tvb, p, size))
    end
    position = p + size
  end
end

local i8, i16, u16, i32, u32, i64, f64 =
  fixed(1), fixed(2), fixed(2), fixed(4), fixed(4), fixed(8), fixed(8)

local bool = i8

local function signed(value, bits)
  return value >= 2 ^ (bits - 1) and value - 2 ^ bits or value
end

local function uint8()
  local p = position
  if p >= stop then
    cut(1)
  end
  position = p + 1
  return byte(data, p + 1)
end

local function int16_at(p)
  local a, b = byte(data, p + 1, p + 2)
  local value = a * 256 + b
  return value < 32768 and value or value - 65536
end

local function int32_at(p)
  local a, b, c, d = byte(data, p + 1, p + 4)
  local value = a * 16777216 + b * 65536 + c * 256 + d
  return value < 2147483648 and value or value - 4294967296
end

local function int16()
  local p = position
  if stop - p < 2 then
    cut(2)
  end
  position = p + 2
  return int16_at(p)
end

local function int32()
  local p = position
  if stop - p < 4 then
    cut(4)
  end
  position = p + 4
  return int32_at(p)
end

-- An unsigned varint of at most five bytes, which Kafka reads into a signed int.
local function uvarint()
  local p = position
  if p >= stop then
    cut(1)
  end
  local value = byte(data, p + 1)
  if value < 128 then
    position = p + 1
    return value
  end
  value = value - 128
  local factor = 128
  for offset = 1, 4 do
    if p + offset >= stop then
      cut(offset + 1)
    end
    local more = byte(data, p + offset + 1)
    if more < 128 then
      position = p + offset + 1
      return signed((value + more * factor) % 4294967296, 32)
    end
    value = value + (more - 128) * factor
    factor = factor * 128
  end
  malformed("a varint of more than 5 bytes")
end

local function null(t, f, start)
  if shown[FIELD_NULL] then
    local label = LABEL[f]
    add(t, F[FIELD_NULL], range(tvb, start, position - start), label, label .. ": null")
  end
end

-- An error code. The first one that is not NONE stands in the Info column.
local function code(t, f)
  local p = position
  if stop - p < 2 then
    cut(2)
  end
  local item
  local wanted = shown[f]
  if wanted then
    item = add(t, wanted, range(tvb, p, 2))
  end
  position = p + 2
  local value = int16_at(p)
  if value ~= 0 then
    context.error = context.error or value
    if shown[FIELD_ERROR] then
      set_hidden(add(t, F[FIELD_ERROR], range(tvb, p, 2)))
    end
    if item then
      item:add_proto_expert_info(EXPERT.refused, ERRORS[value] or "error " .. value)
    end
  end
end

-- UUIDs as Kafka prints them: base64 with the alphabet of URLs, without padding.
local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local TWO_DIGITS = {}
for high = 0, 63 do
  for low = 0, 63 do
    TWO_DIGITS[high * 64 + low] = sub(ALPHABET, high + 1, high + 1) .. sub(ALPHABET, low + 1, low + 1)
  end
end

local uuids, uuid_count = {}, 0

local function uuid_text(raw)
  local text = uuids[raw]
  if text then
    return text
  end
  local digits = {}
  for p = 1, 13, 3 do
    local a, b, c = byte(raw, p, p + 2)
    local value = a * 65536 + b * 256 + c
    digits[#digits + 1] = TWO_DIGITS[floor(value / 4096)]
    digits[#digits + 1] = TWO_DIGITS[value % 4096]
  end
  digits[#digits + 1] = TWO_DIGITS[byte(raw, 16) * 16]
  text = table.concat(digits)
  if uuid_count > 4096 then
    uuids, uuid_count = {}, 0
  end
  uuids[raw], uuid_count = text, uuid_count + 1
  return text
end

-- Returns the 16 bytes.
local function uuid(t, f)
  local p = position
  if stop - p < 16 then
    cut(16)
  end
  position = p + 16
  local raw = sub(data, p + 1, p + 16)
  local wanted = shown[f]
  if wanted then
    add(t, wanted, range(tvb, p, 16), uuids[raw] or uuid_text(raw))
  end
  return raw
end

-- Adds text of `size` bytes at `p`. What C takes for the end of a string goes another way.
local function add_text(t, wanted, p, size, value)
  if find(value, "\0", 1, true) then
    t:add_packet_field(wanted, range(tvb, p, size), ENC_UTF_8)
  else
    add(t, wanted, range(tvb, p, size), value)
  end
end

-- Reads a length: an int16 (text) or int32 (bytes) before flexible versions, a varint since.
-- Returns it, nil for null, with the offset of what follows; that is then skipped.
local function text(t, f, x)
  local start = position
  local size
  if x then
    size = uvarint() - 1
  else
    size = int16()
  end
  if size < 0 then
    null(t, f, start)
    return nil
  end
  local p = position
  if size > stop - p then
    cut(size)
  end
  position = p + size
  local wanted = shown[f]
  local value = sub(data, p + 1, p + size)
  if wanted then
    add_text(t, wanted, p, size, value)
  end
  return value
end

local function sized(t, f, x)
  local start = position
  local size
  if x then
    size = uvarint() - 1
  else
    size = int32()
  end
  if size < 0 then
    null(t, f, start)
    return nil
  end
  if size > stop - position then
    cut(size)
  end
  return position, size
end

-- Returns the item, where the bytes begin and where they end.
local function blob(t, f, x)
  local p, size = sized(t, f, x)
  if not p then
    return nil
  end
  position = p + size
  local item
  if shown[f] then
    item = add(t, F[f], range(tvb, p, size))
  end
  return item or t, p, p + size
end

-- ELEMENTS[f][3] is the label of the fourth element of array f.
local ELEMENTS = setmetatable({}, {
  __index = function(arrays, f)
    local name = LABEL[f]
    arrays[f] = setmetatable({}, {
      __index = function(labels, index)
        local label = name .. "[" .. index .. "]"
        if index < 1000 then
          labels[index] = label
        end
        return label
      end,
    })
    return arrays[f]
  end,
})

-- Reads the count of an array, checked against the bytes that are left. Elements stand beside each
-- other in the tree, without an item of the array; an empty one has an item that says so.
local function count_elements(t, f, x, least)
  local start = position
  local count
  if x then
    count = uvarint() - 1
  else
    count = int32()
  end
  if count > 0 then
    if count * least > stop - position then
      malformed(string.format("%.0f elements claimed, %.0f bytes left", count, stop - position))
    end
    items = items + count
    if items > MOST_ITEMS then
      malformed("more than " .. MOST_ITEMS .. " elements: the rest is not shown")
    end
  elseif count < 0 then
    null(t, f, start)
  elseif shown[FIELD_EMPTY] then
    local label = LABEL[f]
    add(t, F[FIELD_EMPTY], range(tvb, start, position - start), label, label .. ": empty")
  end
  return count
end

local function array(t, v, x, f, read, least)
  local count = count_elements(t, f, x, least)
  local wanted, labels = shown[f], ELEMENTS[f]
  for index = 0, count - 1 do
    if wanted then
      local begin = position
      local item = add(t, wanted, range(tvb, begin, 0), index, labels[index])
      read(item, v, x)
      set_len(item, position - begin)
    else
      read(t, v, x)
    end
  end
end

local function list(t, f, read, x, least)
  for _ = 1, count_elements(t, f, x, least) do
    read(t, f, x)
  end
end

local function nested(t, v, x, f, read)
  local wanted = shown[f]
  if not wanted then
    return read(t, v, x)
  end
  local begin = position
  local item = add(t, wanted, range(tvb, begin, 0))
  read(item, v, x)
  set_len(item, position - begin)
end

-- A struct that may be null: a byte says so, in tagged fields a varint (KIP-893).
local function optional(t, v, x, f, read, is_tagged)
  local start = position
  local is_null
  if is_tagged then
    is_null = uvarint() <= 0
  else
    is_null = uint8() > 127
  end
  if is_null then
    null(t, f, start)
  else
    nested(t, v, x, f, read)
  end
end

-- The tagged fields that end a struct (KIP-482); known[tag] returns true if the version has none.
local function tags(t, v, x, known)
  local count = uvarint()
  if count == 0 then
    return
  end
  if count < 0 or count * 2 > stop - position then
    malformed(string.format("%.0f tagged fields claimed, %.0f bytes left", count, stop - position))
  end
  for _ = 1, count do
    count_item()
    local start = position
    local tag = uvarint()
    local size = uvarint()
    local begin = position
    local read = known and known[tag]
    if not read or read(t, v, x) then
      if size < 0 or size > stop - begin then
        cut(size)
      end
      position = begin + size
      if shown[FIELD_TAG] then
        local item = add(t, F[FIELD_TAG], range(tvb, start, position - start), tag % 4294967296)
        add(item, F[FIELD_TAG_DATA], range(tvb, begin, size))
      end
    elseif position ~= begin + size then
      t:add_proto_expert_info(
        EXPERT.malformed, "tag " .. tag .. " has " .. position - begin .. " bytes, not " .. size
      )
    end
  end
end

-- Calls read(...) on the bytes from `first` to `last`, and says in the tree what is wrong with them.
-- Returns true if nothing is.
local function within(t, first, last, read, ...)
  local outer_position, outer_stop = position, stop
  position, stop = first, last
  local done, problem = pcall(read, ...)
  if not done then
    if type(problem) == "table" then
      context.malformed = problem.reason
      t:add_proto_expert_info(
        EXPERT.malformed, problem.reason .. " (byte " .. problem.position - first .. ")"
      )
    else
      context.malformed = "the dissector has failed"
      t:add_proto_expert_info(EXPERT.failed, tostring(problem))
    end
    if position < last and shown[FIELD_LEFT_OVER] then
      add(t, F[FIELD_LEFT_OVER], range(tvb, position, last - position))
    end
  elseif position < last then
    t:add_proto_expert_info(EXPERT.malformed, last - position .. " bytes left over")
    if shown[FIELD_LEFT_OVER] then
      add(t, F[FIELD_LEFT_OVER], range(tvb, position, last - position))
    end
  end
  position, stop = outer_position, outer_stop
  return done
end

-- Reads a declared message between two offsets, in an item of its own.
local function read_message(t, message, version, first, last)
  local flexible = message.versions[version]
  local item = t
  if shown[message.root] then
    item = add(t, F[message.root], range(tvb, first, last - first))
    item:set_text(message.name .. " v" .. version)
  end
  if flexible == nil then
    item:add_proto_expert_info(EXPERT.unknown, message.name .. " v" .. version .. " is not declared")
    if shown[FIELD_LEFT_OVER] and last > first then
      add(item, F[FIELD_LEFT_OVER], range(tvb, first, last - first))
    end
    return false
  end
  return within(item, first, last, message.read, item, version, flexible)
end
