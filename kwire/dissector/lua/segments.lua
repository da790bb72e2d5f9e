-- The bytes of a TCP connection: where frames begin, which of them are whole, and the registration.

local largest_frame = proto.prefs.limit
local NOT_A_FRAME, WAIT = "not a frame", "wait"
local HIGHEST_KEY, HIGHEST_VERSION = 1000, 100 -- of APIs that may come
local PRODUCE = 0
local LARGEST_REQUEST = 8 * 1024 * 1024 -- without record batches

-- True if a request may begin at p. `is_exact`: the frame ends with the bytes that are here.
local function may_be_request(p, size, left, is_exact)
  local key, version = int16_at(p + 4), int16_at(p + 6)
  local api = API[key]
  -- Wireshark would wait for a claimed end through everything that follows.
  if size > left and size > LARGEST_REQUEST and key ~= PRODUCE then
    return false
  end
  if api and api.request.versions[version] ~= nil then
    local client = left >= 14 and size >= 10 and int16_at(p + 12) or -1
    return client >= -1 and client <= size - 10 or key == CONTROLLED_SHUTDOWN
  end
  return is_exact and key >= 0 and key < HIGHEST_KEY and version >= 0 and version < HIGHEST_VERSION
end

-- Judges the bytes at p: true for a frame, NOT_A_FRAME, or WAIT for more of them.
local function judge(stream, is_request, p, left)
  if left < 4 then
    return WAIT
  end
  local size = int32_at(p)
  if size < (is_request and 8 or 4) or size > largest_frame then
    return stream.tokens and size >= 0 and size <= 65536 or NOT_A_FRAME
  end
  if left < 12 and left < size + 4 then
    return left >= 8 and not is_request and is_awaited(stream, int32_at(p + 4)) or WAIT
  end
  local is_exact = size + 4 == left
  if stream.tokens then
    return true
  elseif is_request then
    local is_known = stream.synchronized[is_request] and left >= size + 4
    return may_be_request(p, size, left, is_exact or is_known) or NOT_A_FRAME
  end
  local is_lone = next(stream.waiting) == nil and left >= size + 4
  return is_awaited(stream, int32_at(p + 4)) or is_exact or is_lone or NOT_A_FRAME
end

local function judged(stream, pinfo, is_request, p, left)
  if pinfo.visited then
    local frame = skipped[pinfo.number]
    if frame and frame[p] then
      return NOT_A_FRAME
    elseif left < 4 or int32_at(p) + 4 > left then
      return WAIT
    end
    return true
  end
  local verdict = judge(stream, is_request, p, left)
  if verdict == NOT_A_FRAME then
    local number = pinfo.number
    skipped[number] = skipped[number] or {}
    skipped[number][p] = true
  end
  stream.synchronized[is_request] = verdict ~= NOT_A_FRAME
  return verdict
end

local function skip(root, p, left)
  root:append_text(", no frame begins here")
  root:add_proto_expert_info(EXPERT.malformed, "no frame begins here: " .. left .. " bytes skipped")
  if shown[FIELD_SKIPPED] then
    add(root, F[FIELD_SKIPPED], range(tvb, p, left))
  end
  return "no frame"
end

-- After a SaslHandshake v0 the tokens of SASL have a size and no header (KIP-43).
local function is_token(stream, is_request, p, left)
  if not stream.tokens then
    return false
  end
  local size = int32_at(p)
  if is_request and size >= 10 and may_be_request(p, size, left, false) then
    stream.tokens = nil
    return false
  end
  return is_request or not (size >= 4 and is_awaited(stream, int32_at(p + 4)))
end

local function title(kind)
  local exchange = context.exchange
  local name = exchange and api_title(kind, exchange.key, exchange.version) or kind
  if context.error and kind == "response" then
    name = name .. ": " .. (ERRORS[context.error] or "error " .. context.error)
  end
  return context.malformed and name .. " (malformed)" or name
end

-- Adds a frame to the tree; `last` is where its bytes end here, before its own end if they are cut.
local function add_frame(tree, stream, pinfo, is_request, first, last)
  local root = add(tree, proto, range(tvb, first, last - first))
  context = {}
  items = 0
  if shown[FIELD_LENGTH] then
    add(root, F[FIELD_LENGTH], range(tvb, first, 4))
  end
  if stream.tokens and is_token(stream, is_request, first, last - first) then
    add(root, F[FIELD_TOKEN], range(tvb, first + 4, last - first - 4))
    return "SASL token"
  end
  if is_request then
    if last - first >= 8 and int16_at(first + 4) == SASL_HANDSHAKE and int16_at(first + 6) == 0 then
      stream.tokens = true
    end
    within(root, first + 4, last, read_request, root, open_exchange, stream, pinfo, first)
  else
    within(root, first + 4, last, read_response, root, close_exchange, stream, pinfo, first)
  end
  local name = title(is_request and "request" or "response")
  append_text(root, ", " .. name)
  return name
end

local kafka, kafka_records -- the dissectors of this file

-- Only what somebody looks at is added to the tree, since that is what takes the time.
local function choose_fields(tree)
  wants_records = tree.visible
  if wants_records then
    shown = F
    return
  end
  wants_records = tree:referenced(kafka_records)
  if wants_records or tree:referenced(kafka) then
    shown = setmetatable({}, {
      __index = function(known, f)
        local wanted = tree:referenced(F[f]) and F[f]
        known[f] = wanted
        return wanted
      end,
    })
  else
    shown = SHOW_NONE
  end
end

local function wait_for(pinfo, p, left)
  local missing = left >= 4 and int32_at(p) + 4 - left or 0
  pinfo.desegment_offset = p
  pinfo.desegment_len = missing > 0 and missing or DESEGMENT_ONE_MORE_SEGMENT
end

local function is_sent_to_node(stream, pinfo)
  if not stream.node then
    local source, target = pinfo.src_port, pinfo.dst_port
    stream.node = pinfo.match_uint == source and source ~= target and source or target
  end
  return pinfo.dst_port == stream.node
end

local function read_segment(stream, pinfo, tree)
  local is_request = is_sent_to_node(stream, pinfo)
  local names = {}
  local p, size = 0, #data
  while p < size do
    local left = size - p
    local verdict = judged(stream, pinfo, is_request, p, left)
    if verdict == NOT_A_FRAME then
      names[#names + 1] = skip(tree:add(proto, range(tvb, p, left)), p, left)
      p = size
    else
      local whole = left >= 4 and int32_at(p) + 4 or left + 1
      if (verdict == WAIT or whole > left) and pinfo.can_desegment > 0 then
        wait_for(pinfo, p, left)
        break
      elseif left < 4 then
        names[#names + 1] = skip(tree:add(proto, range(tvb, p, left)), p, left)
        break
      end
      local last = math.min(p + whole, size)
      names[#names + 1] = add_frame(tree, stream, pinfo, is_request, p, last)
      p = last
    end
  end
  return table.concat(names, ", ")
end

local function is_tls(bytes)
  local kind, major = byte(bytes, 1, 2)
  return kind >= 20 and kind <= 23 and major == 3 and #bytes >= 5
end

-- Kilobytes of garbage that may gather before Lua collects it.
local GARBAGE = 131072
local count = collectgarbage("count")
collectgarbage("setpause", 2000)

-- Collecting is most of a full tree's cost, since Wireshark makes objects with finalizers for every
-- field. Lua waits in proportion to what is alive: a capture of any length gathers the same garbage.
local function pace_collector()
  local before = count
  count = collectgarbage("count")
  if count < before then
    collectgarbage("setpause", 100 + math.floor(100 * GARBAGE / count))
  end
end

function proto.dissector(buffer, pinfo, tree)
  local bytes = buffer:raw()
  if bytes == "" then
    return 0
  end
  if is_tls(bytes) then
    return Dissector.get("tls"):call(buffer, pinfo, tree)
  end
  if not kafka then
    kafka, kafka_records = Dissector.get("kwire"), Dissector.get("kwire_records")
    add, set_len, append_text = tree.add, tree.set_len, tree.append_text
    set_generated, set_hidden = tree.set_generated, tree.set_hidden
    range = buffer.range
  end
  pace_collector()
  tvb, data = buffer, bytes
  choose_fields(tree)
  pinfo.cols.protocol = "Kafka"
  local names = read_segment(stream_of(), pinfo, tree)
  if names ~= "" then
    pinfo.cols.info = names
  end
  return #bytes
end

-- A whole ApiVersions request, with which most clients begin: nothing else looks like it.
local function is_api_versions(buffer)
  local size = buffer:len()
  if size < 14 or size > 600 or buffer:range(0, 4):uint() ~= size - 4 then
    return false
  end
  local key, version = buffer:range(4, 2):uint(), buffer:range(6, 2):uint()
  if key ~= API_VERSIONS or API[key].request.versions[version] == nil then
    return false
  end
  local client = buffer:range(12, 2):int()
  return client >= -1 and client <= size - 14
end

local function find_kafka(buffer, pinfo, tree)
  if not proto.prefs.find or not is_api_versions(buffer) then
    return false
  end
  stream_of().node = pinfo.dst_port
  pinfo.conversation = proto
  proto.dissector(buffer, pinfo, tree)
  return true
end

proto.fields = OWNED[proto]
records_proto.fields = OWNED[records_proto]
proto:register_heuristic("tcp", find_kafka)
pcall(proto.register_heuristic, proto, "tls", find_kafka)

local registered

local function register_ports()
  local ports = proto.prefs.ports
  if registered == ports then
    return
  end
  for _, name in ipairs({ "tls.port", "tcp.port" }) do
    local found, port_table = pcall(DissectorTable.get, name)
    if found and port_table then
      if registered and registered ~= "" then
        port_table:remove(registered, proto)
      end
      if ports ~= "" then
        port_table:add(ports, proto)
      end
      pcall(port_table.add_for_decode_as, port_table, proto)
    end
  end
  registered = ports
end

function proto.prefs_changed()
  largest_frame = proto.prefs.limit
  register_ports()
end

register_ports()
