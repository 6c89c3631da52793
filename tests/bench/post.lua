-- The load of wrk: alerts of the same labels and annotations, as incmon's webhook or as Alertmanager's API takes them.
-- Environment: TARGET incmon or alertmanager, TOKEN, MODE new or repeated, N alerts a request, FROM the first number
-- of new alerts (numbers of different runs never meet), STARTS_AT.
local target = os.getenv("TARGET")
local count = tonumber(os.getenv("N"))
local is_new = os.getenv("MODE") == "new"
local from = tonumber(os.getenv("FROM"))
local starts_at = os.getenv("STARTS_AT")

local SERVICES = 200
local REPEATED = 1000
local NAMES = { "HighLatency", "HighErrorRate", "QueueGrows", "CacheMisses", "SlowQueries" }

-- Both are one to one over 32 bits and leave no order, as real fingerprints have none.
local function shuffled(number, left, right)
  number = bit.bxor(number, bit.lshift(number, left))
  number = bit.bxor(number, bit.rshift(number, 17))
  return bit.bxor(number, bit.lshift(number, right))
end
local function fingerprint(id)
  return bit.tohex(shuffled(bit.tobit(id), 13, 5)) .. bit.tohex(shuffled(bit.tobit(id + 77), 9, 14))
end

local LABELS = '"labels":{"alertname":"%s","instance":"%d.%d.%d.%d:8080","job":"shop","namespace":"shop",'
  .. '"service":"svc-%03d","severity":"warning","team":"checkout"}'
local ANNOTATIONS = '"annotations":{"description":"The 99th percentile of request %d was above one second for five minutes.",'
  .. '"runbook_url":"https://runbooks.example/latency","summary":"p99 latency is high"}'
local GENERATOR = '"generatorURL":"http://prometheus.example:9090/graph?g0.expr=latency%%3E1&g0.tab=1"'
local WEBHOOK_ALERT = '{"status":"firing",' .. LABELS .. "," .. ANNOTATIONS
  .. ',"startsAt":"' .. starts_at .. '","endsAt":"0001-01-01T00:00:00Z",' .. GENERATOR .. ',"fingerprint":"%s"}'
local API_ALERT = "{" .. LABELS .. "," .. ANNOTATIONS .. ',"startsAt":"' .. starts_at .. '",' .. GENERATOR .. "}"
local WEBHOOK = '{"receiver":"incmon","status":"firing","version":"4","groupKey":"{}:{service=\\"svc-%03d\\"}",'
  .. '"truncatedAlerts":0,"groupLabels":{"service":"svc-%03d"},"commonLabels":{},"commonAnnotations":{},'
  .. '"externalURL":"http://alertmanager.example:9093","alerts":[%s]}'

local function alert(id)
  local form = target == "alertmanager" and API_ALERT or WEBHOOK_ALERT
  -- The address alone tells the alerts of a service apart.
  local function octet(place) return math.floor(id / place) % 256 end
  return form:format(NAMES[id % #NAMES + 1], octet(16777216), octet(65536), octet(256), octet(1), id % SERVICES, id,
    fingerprint(id))
end

local function body(first)
  local alerts = {}
  for i = 1, count do alerts[i] = alert(first + i - 1) end
  local list = table.concat(alerts, ",")
  if target == "alertmanager" then return "[" .. list .. "]" end
  return WEBHOOK:format(first % SERVICES, first % SERVICES, list)
end

local headers = { ["Content-Type"] = "application/json" }
if target ~= "alertmanager" then headers["Authorization"] = "Bearer " .. os.getenv("TOKEN") end
local path = target == "alertmanager" and "/api/v2/alerts" or "/api/webhooks/metrics"

local function post(first)
  return wrk.format("POST", path, headers, body(first))
end

-- Repeated requests are made once, so that the generator takes little of the machine.
local prepared = {}
local sent = 0
function request()
  sent = sent + 1
  if is_new then return post(from + (sent - 1) * count) end
  local block = sent % (REPEATED / count)
  prepared[block] = prepared[block] or post(block * count)
  return prepared[block]
end

function done(summary, latency)
  local errors = summary.errors
  local form = '\nRESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"refused":%d,"broken":%d}\n'
  io.write(form:format(summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
