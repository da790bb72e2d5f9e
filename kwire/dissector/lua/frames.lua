-- Frames: size, header and body of a request or a response; frames inside envelopes (KIP-590).

local FIELD_LENGTH = field("kafka.len", ftypes.INT32)
local FIELD_KEY_OF_API = field("kafka.api_key", ftypes.INT16, (function()
  local names = {}
  for key, api in pairs(API) do
    names[key] = api.name
  end
  return names
end)())
local FIELD_VERSION = field("kafka.api_version", ftypes.INT16)
local FIELD_CORRELATION = field("kafka.correlation_id", ftypes.INT32)
local FIELD_CLIENT = field("kafka.client_id", ftypes.STRING)
local FIELD_REQUEST_IN = field("kafka.request_in", ftypes.FRAMENUM, frametype.REQUEST)
local FIELD_RESPONSE_IN = field("kafka.response_in", ftypes.FRAMENUM, frametype.RESPONSE)
local FIELD_RESPONSE_TIME = field("kafka.response_time", ftypes.RELATIVE_TIME)
local FIELD_BODY = field("kafka.body", ftypes.BYTES)
local FIELD_TOKEN = field("kafka.sasl_token", ftypes.BYTES)
local FIELD_SKIPPED = field("kafka.skipped", ftypes.BYTES)

local API_VERSIONS, CONTROLLED_SHUTDOWN, SASL_HANDSHAKE = 18, 7, 17
local UNSUPPORTED_VERSION = 35

-- TITLES.request[key][version], for the Info column.
local TITLES = { request = {}, response = {} }

local function api_title(kind, key, version)
  local titles = TITLES[kind][key]
  if not titles then
    titles = {}
    TITLES[kind][key] = titles
  end
  local title = titles[version]
  if not title then
    local api = API[key]
    title = (api and api.name or "API " .. key) .. " v" .. version .. " " .. kind
    titles[version] = title
  end
  return title
end

-- Adds a generated field: one that is not in these bytes.
local function add_generated(t, f, value)
  local wanted = shown[f]
  if wanted and value ~= nil then
    set_generated(add(t, wanted, range(tvb, position, 0), value))
  end
end

-- The header of a request, flexible as its message is. client_id is never compact.
local function read_request_header(t, key, version)
  i16(t, FIELD_KEY_OF_API)
  i16(t, FIELD_VERSION)
  i32(t, FIELD_CORRELATION)
  if key ~= CONTROLLED_SHUTDOWN or version ~= 0 then
    text(t, FIELD_CLIENT, false)
    local api = API[key]
    if api and api.request.versions[version] then
      tags(t, version, true)
    end
  end
end

local function read_bytes(t, reason)
  t:add_proto_expert_info(EXPERT.unknown, reason)
  if shown[FIELD_BODY] and stop > position then
    add(t, F[FIELD_BODY], range(tvb, position, stop - position))
  end
  position = stop
end

local function read_body(t, key, version, kind)
  local api = API[key]
  if not api then
    return read_bytes(t, "API " .. key .. " is not declared")
  end
  local message = api[kind]
  if message.versions[version] == nil then
    return read_bytes(t, message.name .. " v" .. version .. " is not declared")
  end
  read_message(t, message, version, position, stop)
  position = stop
end

-- register(key, version, correlation, ...) returns the exchange that the request opens.
local function read_request(t, register, ...)
  local first = position
  if stop - first < 8 then
    cut(8)
  end
  local key, version = int16_at(first), int16_at(first + 2)
  local exchange = register(key, version, int32_at(first + 4), ...)
  context.topic, context.exchange = nil, exchange
  read_request_header(t, key, version)
  if exchange then
    add_generated(t, FIELD_RESPONSE_IN, exchange.response_frame)
  end
  read_body(t, key, version, "request")
end

local function add_exchange(t, exchange)
  add_generated(t, FIELD_KEY_OF_API, exchange.key)
  add_generated(t, FIELD_VERSION, exchange.version)
  local frame = exchange.request_frame
  if frame and shown[FIELD_REQUEST_IN] then
    add_generated(t, FIELD_REQUEST_IN, frame)
  end
  if frame and shown[FIELD_RESPONSE_TIME] then
    local time = math.max(0, exchange.response_time - exchange.request_time)
    local seconds = floor(time)
    local nanoseconds = floor((time - seconds) * 1000000 + 0.5) * 1000
    add_generated(t, FIELD_RESPONSE_TIME, NSTime.new(seconds, nanoseconds))
  end
end

-- find_exchange(correlation, ...) returns the exchange that the response closes.
local function read_response(t, find_exchange, ...)
  local first = position
  if stop - first < 4 then
    cut(4)
  end
  local exchange = find_exchange(int32_at(first), ...)
  context.topic, context.exchange = nil, exchange
  i32(t, FIELD_CORRELATION)
  if not exchange then
    return read_bytes(t, "the request is not in this file")
  end
  local key, version = exchange.key, exchange.version
  local api = API[key]
  -- ApiVersions has no tags in its header, so that a client of any version can read it (KIP-511).
  if api and api.response.versions[version] and key ~= API_VERSIONS then
    tags(t, version, true)
  end
  add_exchange(t, exchange)
  if key == API_VERSIONS and stop - position >= 2 and int16_at(position) == UNSUPPORTED_VERSION then
    version = 0 -- KIP-511
  end
  read_body(t, key, version, "response")
end

-- A request of a client that a broker sends on to the controller, with the client's header.
embedded_request = function(t, f, x)
  local item, first, last = blob(t, f, x)
  local outer = context.exchange
  if not first or not outer or outer.is_inner then
    return -- an envelope in an envelope stays what it is
  end
  within(item, first, last, read_request, item, function(key, version)
    outer.embedded = { key = key, version = version, is_inner = true }
    return outer.embedded
  end)
  context.exchange = outer
end

embedded_response = function(t, f, x)
  local item, first, last = blob(t, f, x)
  local outer = context.exchange
  if not first or not outer or outer.is_inner then
    return
  end
  within(item, first, last, read_response, item, function()
    return outer.embedded
  end)
  context.exchange = outer
end
