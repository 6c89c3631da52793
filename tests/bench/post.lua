-- The load of wrk: alerts with the same labels and annotations, for the webhook of incmon or for the API of Alertmanager (of incmon: api).
-- Environment: TARGET (incmon, api, limit, bare or alertmanager), TOKEN, MODE (new or repeated), SEVERITY (warning or critical),
-- N alerts in a request, SERVICES that they belong to, FROM the first number of new alerts, REQUESTS the number of different
-- requests (0: no limit), CONNECTIONS, STARTS_AT.
local target = os.getenv("TARGET")
local count = tonumber(os.getenv("N"))
local is_new = os.getenv("MODE") == "new"
local severity = os.getenv("SEVERITY")
local from = tonumber(os.getenv("FROM"))
local requests = tonumber(os.getenv("REQUESTS"))
local connections = tonumber(os.getenv("CONNECTIONS"))
local starts_at = os.getenv("STARTS_AT")

local SERVICES = tonumber(os.getenv("SERVICES"))
local REPEATED = 1000
local NAMES = { "HighLatency", "HighErrorRate", "QueueGrows", "CacheMisses", "SlowQueries" }

-- Maps 32 bits to 32 bits one to one and without order, because real fingerprints have no order.
local function shuffled(number, left, right)
  number = bit.bxor(number, bit.lshift(number, left))
  number = bit.bxor(number, bit.rshift(number, 17))
  return bit.bxor(number, bit.lshift(number, right))
end
local function fingerprint(id)
  return bit.tohex(shuffled(bit.tobit(id), 13, 5)) .. bit.tohex(shuffled(bit.tobit(id + 77), 9, 14))
end

local LABELS = '"labels":{"alertname":"%s","instance":"%d.%d.%d.%d:8080","job":"shop","namespace":"shop",'
  .. '"service":"svc-%03d","severity":"' .. severity .. '","team":"checkout"}'
local ANNOTATIONS = '"annotations":{"description":"The 99th percentile of request %d was above one second for five minutes.",'
  .. '"runbook_url":"https://runbooks.example/latency","summary":"p99 latency is high"}'
local GENERATOR = '"generatorURL":"http://prometheus.example:9090/graph?g0.expr=latency%%3E1&g0.tab=1"'
local WEBHOOK_ALERT = '{"status":"firing",' .. LABELS .. "," .. ANNOTATIONS
  .. ',"startsAt":"' .. starts_at .. '","endsAt":"0001-01-01T00:00:00Z",' .. GENERATOR .. ',"fingerprint":"%s"}'
local API_ALERT = "{" .. LABELS .. "," .. ANNOTATIONS .. ',"startsAt":"' .. starts_at .. '",' .. GENERATOR .. "}"
local WEBHOOK = '{"receiver":"incmon","status":"firing","version":"4","groupKey":"{}:{service=\\"svc-%03d\\"}",'
  .. '"truncatedAlerts":0,"groupLabels":{"service":"svc-%03d"},"commonLabels":{},"commonAnnotations":{},'
  .. '"externalURL":"http://alertmanager.example:9093","alerts":[%s]}'

local is_api = target == "alertmanager" or target == "api"

local function alert(id)
  local form = is_api and API_ALERT or WEBHOOK_ALERT
  -- The alerts of one service differ only in their address.
  local function octet(place) return math.floor(id / place) % 256 end
  return form:format(NAMES[id % #NAMES + 1], octet(16777216), octet(65536), octet(256), octet(1), id % SERVICES, id,
    fingerprint(id))
end

local function body(first)
  local alerts = {}
  for i = 1, count do alerts[i] = alert(first + i - 1) end
  local list = table.concat(alerts, ",")
  if is_api then return "[" .. list .. "]" end
  return WEBHOOK:format(first % SERVICES, first % SERVICES, list)
end

local headers = { ["Content-Type"] = "application/json" }
if target ~= "alertmanager" then headers["Authorization"] = "Bearer " .. os.getenv("TOKEN") end
local paths = { alertmanager = "/api/v2/alerts", api = "/alertmanager/api/v2/alerts" }
local path = paths[target] or "/api/webhooks/metrics"

local function post(first)
  return wrk.format("POST", path, headers, body(first))
end

-- Repeated requests are built once, so that wrk needs little processor time.
local prepared = {}
-- wrk calls request() once for itself, before the load, and does not send what it returns.
local sent = -1
local answered = 0
local first_repeated = severity == "critical" and REPEATED or 0
local function repeated()
  local block = sent % (REPEATED / count)
  prepared[block] = prepared[block] or post(first_repeated + block * count)
  return prepared[block]
end
local last
function request()
  sent = sent + 1
  if not is_new then return repeated() end
  if requests > 0 and sent > requests then return last end
  last = post(from + (sent - 1) * count)
  return last
end

-- With a limit, wrk ends as by Ctrl-C as soon as every different request has surely been answered.
if requests > 0 then
  local ffi = require("ffi")
  ffi.cdef("int getpid(void); int kill(int pid, int signal);")
  function response()
    answered = answered + 1
    if answered == requests + 4 * connections then ffi.C.kill(ffi.C.getpid(), 2) end
  end
end

function done(summary, latency)
  local errors = summary.errors
  local form = '\nRESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"refused":%d,"broken":%d}\n'
  io.write(form:format(summary.requests, summary.duration / 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
