-- Connections: which end is the node, which requests wait for their responses. Wireshark dissects a
-- frame for the first time in the order of the file, then again in any order: what is found the
-- first time is kept by frame.

local tcp_stream = Field.new("tcp.stream")

local streams = {}

-- exchanges[frame] is a list of { correlation id, offset, exchange } of the messages in it.
local exchanges = {}

-- skipped[frame][offset] is true for bytes that were taken for no beginning of a frame.
local skipped = {}

function proto.init()
  streams, exchanges, skipped = {}, {}, {}
end

local function last_of(...)
  local count = select("#", ...)
  if count > 0 then
    return (select(count, ...))
  end
end

-- Several in one packet are those of tunnels: the last one is ours.
local function stream_of()
  local found = last_of(tcp_stream())
  local number = found and found.value or -1
  local stream = streams[number]
  if not stream then
    stream = { waiting = {}, requests = 0, synchronized = {} }
    streams[number] = stream
  end
  return stream
end

local function remember(frame, correlation, offset, exchange)
  local list = exchanges[frame]
  if not list then
    list = {}
    exchanges[frame] = list
  end
  list[#list + 1] = { correlation, offset, exchange }
  return exchange
end

local function remembered(frame, correlation, offset)
  for _, entry in ipairs(exchanges[frame] or {}) do
    if entry[1] == correlation and entry[2] == offset then
      return entry[3]
    end
  end
  return nil
end

-- Returns the exchange that a request opens.
local function open_exchange(key, version, correlation, stream, pinfo, offset)
  if pinfo.visited then
    return remembered(pinfo.number, correlation, offset)
  end
  local exchange = {
    key = key, version = version, request_frame = pinfo.number, request_time = pinfo.abs_ts,
  }
  local waiting = stream.waiting[correlation]
  if waiting then
    waiting[#waiting + 1] = exchange
  else
    stream.waiting[correlation] = { exchange }
  end
  stream.requests = stream.requests + 1
  return remember(pinfo.number, correlation, offset, exchange)
end

local function is_awaited(stream, correlation)
  return stream.waiting[correlation] ~= nil
end

-- Returns the exchange that a response closes; nil if its request is not in the file.
local function close_exchange(correlation, stream, pinfo, offset)
  if pinfo.visited then
    return remembered(pinfo.number, correlation, offset)
  end
  local waiting = stream.waiting[correlation]
  if not waiting then
    return nil
  end
  local exchange = table.remove(waiting, 1)
  if #waiting == 0 then
    stream.waiting[correlation] = nil
  end
  exchange.response_frame = pinfo.number
  exchange.response_time = pinfo.abs_ts
  return remember(pinfo.number, correlation, offset, exchange)
end
