-- The protocol, its preferences, and the fields that no declaration has.

local proto = Proto("kwire", "Apache Kafka (kwire)")

-- Owns the fields that record batches have. If no filter wants one, batches are not read: Wireshark
-- says so of a whole protocol at once.
local records_proto = Proto("kwire_records", "Record batches of Apache Kafka (kwire)")
function records_proto.dissector() end

local OWNED = { [proto] = {}, [records_proto] = {} }
local owner = proto

proto.prefs.ports = Pref.range(
  "TCP ports", DEFAULT_PORTS, "Ports at which brokers and controllers listen.", 65535
)
proto.prefs.find = Pref.bool(
  "Find Kafka on all ports", true,
  "Take connections for Kafka's in which a frame is an ApiVersions request."
)
proto.prefs.limit = Pref.uint(
  "Largest frame", 104857600, "More bytes are taken for something that is no frame."
)

-- Registered fields by number, and their labels. A filter name that another dissector has with a
-- type that does not go with ours gets a prefix of its own.
local F, LABEL, fields = {}, {}, 0

local function field(name, kind, values, mask, label, display)
  fields = fields + 1
  label = label or name:match("[^.]+$")
  if not display then
    display = values and kind ~= ftypes.FRAMENUM and base.DEC or base.NONE
  end
  local made, result = pcall(ProtoField.new, label, name, kind, values, display, mask)
  if not made then
    result = ProtoField.new(label, "kwire." .. name, kind, values, display, mask)
  end
  F[fields], LABEL[fields] = result, label
  OWNED[owner][#OWNED[owner] + 1] = result
  return fields
end

local API, METADATA_RECORD, CONTROL_RECORD, CONTROL_TYPES = {}, {}, {}, {}
local COORDINATOR_KEYS = {
  __consumer_offsets = {}, __transaction_state = {}, __share_group_state = {},
}
local COORDINATOR_VALUES = {
  __consumer_offsets = {}, __transaction_state = {}, __share_group_state = {},
}
local S, TAGS = {}, {}

local EXPERT = {
  malformed = ProtoExpert.new(
    "kafka.malformed", "The bytes are not what Kafka's protocol has here",
    expert.group.MALFORMED, expert.severity.ERROR
  ),
  unknown = ProtoExpert.new(
    "kafka.unknown", "No declaration of this", expert.group.UNDECODED, expert.severity.NOTE
  ),
  failed = ProtoExpert.new(
    "kafka.failed", "The dissector has failed", expert.group.DEBUG, expert.severity.ERROR
  ),
  refused = ProtoExpert.new(
    "kafka.refused", "The response has an error code",
    expert.group.RESPONSE_CODE, expert.severity.NOTE
  ),
}
records_proto.experts = EXPERT
