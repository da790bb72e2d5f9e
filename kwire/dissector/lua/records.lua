-- Record batches (KIP-98), the messages of formats 0 and 1, and what their records are where Kafka
-- itself writes them: control records, the metadata log, coordinators' topics.

local records -- Lua allows 200 local names in one scope.
do
  owner = records_proto
  local COMPRESSION = { [0] = "none", "gzip", "snappy", "lz4", "zstd" }
  local TIMESTAMPS = { [0] = "CREATE_TIME", "LOG_APPEND_TIME" }

  local FIELD_BATCH = field("kafka.batch", ftypes.UINT32)
  local BATCH_FIELDS = {
    -- offset in the header, size, field
    { 0, 8, field("kafka.batch.base_offset", ftypes.INT64) },
    { 8, 4, field("kafka.batch.length", ftypes.INT32) },
    { 12, 4, field("kafka.batch.partition_leader_epoch", ftypes.INT32) },
    { 16, 1, field("kafka.batch.magic", ftypes.INT8) },
    { 17, 4, field("kafka.batch.crc", ftypes.UINT32, nil, nil, nil, base.HEX) },
    { 21, 2, field("kafka.batch.attributes", ftypes.UINT16, nil, nil, nil, base.HEX) },
    { 21, 2, field("kafka.batch.compression", ftypes.UINT16, COMPRESSION, 0x7) },
    { 21, 2, field("kafka.batch.timestamp_type", ftypes.UINT16, TIMESTAMPS, 0x8) },
    { 21, 2, field("kafka.batch.is_transactional", ftypes.BOOLEAN, nil, 0x10, nil, 16) },
    { 21, 2, field("kafka.batch.is_control", ftypes.BOOLEAN, nil, 0x20, nil, 16) },
    { 21, 2, field("kafka.batch.has_delete_horizon", ftypes.BOOLEAN, nil, 0x40, nil, 16) },
    { 23, 4, field("kafka.batch.last_offset_delta", ftypes.INT32) },
    { 27, 8, field("kafka.batch.base_timestamp", ftypes.ABSOLUTE_TIME, nil, nil, nil, base.UTC) },
    { 35, 8, field("kafka.batch.max_timestamp", ftypes.ABSOLUTE_TIME, nil, nil, nil, base.UTC) },
    { 43, 8, field("kafka.batch.producer_id", ftypes.INT64) },
    { 51, 2, field("kafka.batch.producer_epoch", ftypes.INT16) },
    { 53, 4, field("kafka.batch.base_sequence", ftypes.INT32) },
    { 57, 4, field("kafka.batch.count", ftypes.INT32) },
  }
  local BATCH_HEADER = 61

  local FIELD_PARTIAL = field("kafka.batch.partial", ftypes.BYTES)
  local FIELD_PACKED = field("kafka.batch.compressed_records", ftypes.BYTES)
  local FIELD_RECORD = field("kafka.record", ftypes.UINT32)
  local FIELD_ATTRIBUTES = field("kafka.record.attributes", ftypes.INT8)
  local FIELD_OFFSET = field("kafka.record.offset", ftypes.INT64)
  local FIELD_TIMESTAMP = field(
    "kafka.record.timestamp", ftypes.ABSOLUTE_TIME, nil, nil, nil, base.UTC
  )
  local FIELD_KEY = field("kafka.record.key", ftypes.BYTES)
  local FIELD_VALUE = field("kafka.record.value", ftypes.BYTES)
  local FIELD_HEADER_KEY = field("kafka.record.headers.key", ftypes.STRING)
  local FIELD_HEADER_VALUE = field("kafka.record.headers.value", ftypes.BYTES)
  local FIELD_CONTROL_TYPE = field("kafka.record.control_type", ftypes.INT16, CONTROL_TYPES)
  local FIELD_RECORD_TYPE = field("kafka.record.type", ftypes.UINT32)
  local FIELD_RECORD_VERSION = field("kafka.record.version", ftypes.UINT32)
  local FIELD_MESSAGE = field("kafka.message", ftypes.UINT32)
  local MESSAGE_FIELDS = {
    { 0, 8, field("kafka.message.offset", ftypes.INT64) },
    { 8, 4, field("kafka.message.size", ftypes.INT32) },
    { 12, 4, field("kafka.message.crc", ftypes.UINT32, nil, nil, nil, base.HEX) },
    { 16, 1, field("kafka.message.magic", ftypes.INT8) },
    { 17, 1, field("kafka.message.compression", ftypes.UINT8, COMPRESSION, 0x7) },
  }
  local FIELD_MESSAGE_TIMESTAMP = field(
    "kafka.message.timestamp", ftypes.ABSOLUTE_TIME, nil, nil, nil, base.UTC
  )
  local FIELD_MESSAGE_KEY = field("kafka.message.key", ftypes.BYTES)
  local FIELD_MESSAGE_VALUE = field("kafka.message.value", ftypes.BYTES)

  owner = proto

  -- Milliseconds become a time. Numbers in Lua are exact up to 2^53, which are 285,000 years.
  local function add_time(t, f, p, size, milliseconds)
    if not shown[f] then
      return
    end
    if milliseconds < 0 then
      local label = LABEL[f]
      t:add(F[FIELD_NULL], range(tvb, p, size), label, label .. ": none (" .. milliseconds .. ")")
      return
    end
    local seconds = floor(milliseconds / 1000)
    local time = NSTime.new(seconds, floor(milliseconds - seconds * 1000) * 1000000)
    add(t, F[f], range(tvb, p, size), time)
  end

  local function int64_at(p)
    return int32_at(p) * 4294967296 + int32_at(p + 4) % 4294967296
  end

  local TIMES = { [27] = true, [35] = true }

  local function add_header(t, header_fields, first)
    local bytes, bytes_offset
    for index = 1, #header_fields do
      local entry = header_fields[index]
      local offset, size, f = entry[1], entry[2], entry[3]
      local wanted = shown[f]
      if TIMES[offset] and size == 8 then
        add_time(t, f, first + offset, size, int64_at(first + offset))
      elseif wanted then
        if offset ~= bytes_offset then
          bytes, bytes_offset = range(tvb, first + offset, size), offset
        end
        add(t, wanted, bytes)
      end
    end
  end

  -- A signed varint of a record. Up to 2^53 it is exact: what lies beyond is no size and no time.
  local function varint()
    local value, factor = 0, 1
    for _ = 1, 10 do
      local digit = uint8()
      if digit < 128 then
        value = value + digit * factor
        if value % 2 == 1 then
          return -(value + 1) / 2
        end
        return value / 2
      end
      value, factor = value + (digit - 128) * factor, factor * 128
    end
    malformed("a varint of more than 10 bytes")
  end

  -- Key or value of a record; returns the item, where it begins and where it ends, nil for null.
  local function sized_by_varint(t, f)
    local start = position
    local size = varint()
    if size < 0 then
      null(t, f, start)
      return nil
    end
    local p = position
    if size > stop - p then
      cut(size)
    end
    position = p + size
    local item
    if shown[f] then
      item = add(t, F[f], range(tvb, p, size))
      local content = size <= 80 and sub(data, p + 1, p + size) or ""
      if find(content, "^[ -~]+$") then
        append_text(item, ' "' .. content .. '"')
      end
    end
    return item or t, p, p + size
  end

  -- A record of the metadata log: frame version, type, version, and the message (KIP-631).
  local function metadata_value(t, last)
    local frame = uvarint()
    if frame ~= 1 then
      malformed("frame version " .. frame .. " of a metadata record")
    end
    local type_start = position
    local type = uvarint()
    local version_start = position
    local version = uvarint()
    if shown[FIELD_RECORD_TYPE] then
      add(t, F[FIELD_RECORD_TYPE], range(tvb, type_start, version_start - type_start), type)
    end
    if shown[FIELD_RECORD_VERSION] then
      add(t, F[FIELD_RECORD_VERSION], range(tvb, version_start, position - version_start), version)
    end
    local message = METADATA_RECORD[type]
    if message then
      read_message(t, message, version, position, last)
      position = last
      return message.name
    end
    t:add_proto_expert_info(EXPERT.unknown, "metadata record of type " .. type)
    position = last
    return "record type " .. type
  end

  -- A record of a control batch: its key says the type; markers of transactions have a version before
  -- the message, messages of the quorum begin with their own.
  local function control_record(t, key, key_end, first, last)
    if key_end - key < 4 then
      return
    end
    local type = int16_at(key + 2)
    if shown[FIELD_CONTROL_TYPE] then
      add(t, F[FIELD_CONTROL_TYPE], range(tvb, key + 2, 2))
    end
    local message = CONTROL_RECORD[type]
    if not message or not first or last - first < 2 then
      return
    end
    read_message(t, message, int16_at(first), type < 2 and first + 2 or first, last)
  end

  -- A record of a coordinator's topic: the key says the type, the value its version.
  local function coordinator_record(t, topic, key, key_end, first, last)
    if not key or key_end - key < 2 then
      return
    end
    local type = int16_at(key)
    local message = COORDINATOR_KEYS[topic][type]
    if message then
      read_message(t, message, message.versions[type] ~= nil and type or 0, key + 2, key_end)
    end
    message = COORDINATOR_VALUES[topic][type]
    if message and first and last - first >= 2 then
      read_message(t, message, int16_at(first), first + 2, last)
    end
  end

  local function is_metadata(topic)
    return topic == METADATA_TOPIC or topic == METADATA_TOPIC_ID
  end

  local function read_contents(t, is_control, key, key_end, value, value_end)
    local topic = context.topic
    if is_control then
      if key then
        control_record(t, key, key_end, value, value_end)
      end
    elseif is_metadata(topic) then
      if value then
        within(t, value, value_end, metadata_value, t, value_end)
      end
    elseif COORDINATOR_KEYS[topic or ""] then
      coordinator_record(t, topic, key, key_end, value, value_end)
    end
  end

  local function read_headers(t)
    local count = varint()
    if count < 0 or count * 2 > stop - position then
      malformed(string.format("%.0f headers claimed, %.0f bytes left", count, stop - position))
    end
    for _ = 1, count do
      count_item()
      local size = varint()
      if size < 0 or size > stop - position then
        cut(size)
      end
      local p = position
      position = p + size
      if shown[FIELD_HEADER_KEY] then
        add_text(t, F[FIELD_HEADER_KEY], p, size, sub(data, p + 1, p + size))
      end
      sized_by_varint(t, FIELD_HEADER_VALUE)
    end
  end

  local function read_record(t, header)
    i8(t, FIELD_ATTRIBUTES)
    local p = position
    local milliseconds = varint()
    add_time(t, FIELD_TIMESTAMP, p, position - p, header.append_time or header.timestamp + milliseconds)
    p = position
    local delta = varint()
    if shown[FIELD_OFFSET] then
      local offset = header.exact and header.exact + Int64.new(delta) or Int64.new(header.offset + delta)
      add(t, F[FIELD_OFFSET], range(tvb, p, position - p), offset)
    end
    local _, key, key_end = sized_by_varint(t, FIELD_KEY)
    local item, value, value_end = sized_by_varint(t, FIELD_VALUE)
    if position < stop and byte(data, position + 1) == 0 then
      position = position + 1 -- no headers, as most records
    else
      read_headers(t)
    end
    if header.has_meaning then
      read_contents(item or t, header.is_control, key, key_end, value, value_end)
    end
  end

  local function read_records(t, header)
    local wanted, outer_stop, labels = shown[FIELD_RECORD], stop, ELEMENTS[FIELD_RECORD]
    for index = 0, header.count - 1 do
      count_item()
      local begin = position
      local size = varint()
      if size < 1 or size > outer_stop - position then
        cut(size)
      end
      local last = position + size
      local item = t
      if wanted then
        item = add(t, wanted, range(tvb, begin, last - begin), index, labels[index])
      end
      stop = last
      read_record(item, header)
      if position ~= last then
        malformed(last - position .. " bytes left over in a record")
      end
      stop = outer_stop
    end
  end

  -- Calls read(...) on other bytes than those of the frame.
  local function in_other_bytes(t, bytes, read, ...)
    local outer_tvb, outer_data = tvb, data
    tvb, data = bytes:tvb(), bytes:raw()
    within(t, 0, #data, read, t, ...)
    tvb, data = outer_tvb, outer_data
  end

  local function unpack_and_read(t, codec, first, last, read, ...)
    local problem_position = position
    position, stop = first, last
    local done, bytes = pcall(unpacked, codec, first, last)
    position = problem_position
    if done and bytes then
      in_other_bytes(t, bytes, read, ...)
      return
    end
    local reason = (COMPRESSION[codec] or "codec " .. codec) .. " is not unpacked here"
    if not done and type(bytes) == "table" then
      reason = bytes.reason
    end
    t:add_proto_expert_info(EXPERT.unknown, reason)
    if shown[FIELD_PACKED] then
      add(t, F[FIELD_PACKED], range(tvb, first, last - first))
    end
  end

  local function read_batch(t, first, last)
    add_header(t, BATCH_FIELDS, first)
    local attributes = int16_at(first + 21) % 65536
    local base_timestamp, max_timestamp = int64_at(first + 27), int64_at(first + 35)
    local is_control = floor(attributes / 32) % 2 == 1
    local offset = int64_at(first)
    local header = {
      count = int32_at(first + 57),
      offset = offset,
      -- Beyond 2^53 the numbers of Lua are not exact.
      exact = math.abs(offset) > 4503599627370496 and range(tvb, first, 8):int64() or nil,
      timestamp = base_timestamp,
      append_time = floor(attributes / 8) % 2 == 1 and max_timestamp or nil,
      is_control = is_control,
      has_meaning = is_control or is_metadata(context.topic) or COORDINATOR_KEYS[context.topic or ""],
    }
    local codec = attributes % 8
    position = first + BATCH_HEADER
    if header.count <= 0 then
      position = last
    elseif codec == 0 then
      if header.count > stop - position then
        malformed(header.count .. " records claimed, " .. stop - position .. " bytes left")
      end
      read_records(t, header)
      position = last
    else
      unpack_and_read(t, codec, position, last, read_records, header)
      position = last
    end
  end

  local read_message_set

  -- A message of format 0 or 1. A compressed one has others in its value.
  local function read_legacy(t, first, last)
    add_header(t, MESSAGE_FIELDS, first)
    local magic, attributes = byte(data, first + 17), byte(data, first + 18)
    position = first + 18
    if magic == 1 then
      if stop - position < 8 then
        cut(8)
      end
      add_time(t, FIELD_MESSAGE_TIMESTAMP, position, 8, int64_at(position))
      position = position + 8
    end
    blob(t, FIELD_MESSAGE_KEY, false)
    local item, value, value_end = blob(t, FIELD_MESSAGE_VALUE, false)
    local codec = attributes % 8
    if codec ~= 0 and value and context.depth < 3 then
      context.depth = context.depth + 1
      unpack_and_read(item, codec, value, value_end, read_message_set)
      context.depth = context.depth - 1
    end
    position = last
  end

  -- Batches one after the other. A broker cuts the last one off where the answer is full.
  read_message_set = function(t)
    local index = 0
    while position < stop do
      count_item()
      local first = position
      local left = stop - first
      local length = left >= 12 and int32_at(first + 8) or -1
      local last = first + 12 + length
      local magic = left >= 17 and byte(data, first + 17) or -1
      local least = magic == 2 and BATCH_HEADER or 26
      if magic > 2 or magic < 0 or last > stop or last - first < least then
        position = stop
        if shown[FIELD_PARTIAL] then
          add(t, F[FIELD_PARTIAL], range(tvb, first, left))
        end
        return
      end
      local is_legacy = magic < 2
      local f = is_legacy and FIELD_MESSAGE or FIELD_BATCH
      local item = t
      if shown[f] then
        item = add(t, F[f], range(tvb, first, last - first), index, LABEL[f] .. " " .. index)
      end
      within(item, first, last, is_legacy and read_legacy or read_batch, item, first, last)
      position = last
      index = index + 1
    end
  end

  records = function(t, f, x)
    local item, first, last = blob(t, f, x)
    if not first or not wants_records then
      return
    end
    context.depth = 0
    within(item, first, last, read_message_set, item)
  end
end
