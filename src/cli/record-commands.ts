/** The commands that show and change records: services, alerts, incidents, silences. */
import { type Command, Option } from 'commander'
import { INCIDENT_STATUSES } from '../domain/incident/incident.ts'
import { listOrgAlerts, parseLimit, resolveOneAlert, showOneAlert } from './commands/alert.ts'
import {
  acknowledgeIncident,
  listOrgIncidents,
  mergeIncidents,
  noteIncident,
  reopenIncident,
  resolveIncident,
  showIncident,
} from './commands/incident.ts'
import { exportPostmortems, parseTime, printPostmortem } from './commands/postmortem.ts'
import { listOrgServices, mergeOrgServices } from './commands/service.ts'
import {
  addOrgSilence,
  expireOrgSilence,
  importOrgSilences,
  listOrgSilences,
  parseSpan,
  parseWeekly,
} from './commands/silence.ts'

/** @param now the clock, in milliseconds UTC */
export function addRecords(program: Command, now: () => number): void {
  addService(program.command('service').description('services: the workloads that are monitored'))
  addAlert(program.command('alert').description('alerts: conditions of services'))
  addIncident(program.command('incident').description('incidents and their postmortems'))
  addSilence(program.command('silence').description('silences: alerts that notify nobody for some time'), now)
}

/** Returns the option that names the organization. */
export function orgOption(): Option {
  return new Option('--org <name>', 'the organization (default: the only one)')
}

function addService(service: Command): void {
  service
    .command('list')
    .description('list the services of an organization')
    .addOption(orgOption())
    .option('--archived', 'include archived services')
    .action((_, command: Command) => listOrgServices(command.optsWithGlobals()))
  service
    .command('merge')
    .description('move the history of a service to another one; this cannot be undone')
    .argument('<from>', 'the service to remove, as id or namespace/name')
    .argument('<into>', 'the service that receives the history')
    .addOption(orgOption())
    .option('--yes', 'do not ask for confirmation')
    .action((from, into, _, command: Command) => mergeOrgServices(from, into, command.optsWithGlobals()))
}

function addAlert(alert: Command): void {
  alert
    .command('list')
    .description('list the newest alerts of an organization')
    .addOption(orgOption())
    .addOption(new Option('--status <status>', 'only this status').choices(['firing', 'resolved']))
    .option('--limit <number>', 'the number of alerts', parseLimit, 50)
    .action((_, command: Command) => listOrgAlerts(command.optsWithGlobals()))
  alert
    .command('show')
    .description('show an alert with its labels')
    .argument('<id>', ALERT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => showOneAlert(id, command.optsWithGlobals()))
  alert
    .command('resolve')
    .description('resolve an alert that its sender does not resolve')
    .argument('<id>', ALERT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => resolveOneAlert(id, command.optsWithGlobals()))
}

const ALERT_ID = 'the id of the alert, or its first 8 characters or more'
const INCIDENT_ID = 'the number of the incident, its id, or at least the first 8 characters of its id'

function addIncident(incident: Command): void {
  incident
    .command('list')
    .description('list the incidents of an organization, newest first')
    .addOption(orgOption())
    .addOption(new Option('--status <status>', 'only this status').choices(INCIDENT_STATUSES))
    .action((_, command: Command) => listOrgIncidents(command.optsWithGlobals()))
  incident
    .command('show')
    .description('show an incident with its alerts, probable causes and timeline')
    .argument('<id>', INCIDENT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => showIncident(id, command.optsWithGlobals()))
  incident
    .command('ack')
    .description('acknowledge an incident: somebody works on it')
    .argument('<id>', INCIDENT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => acknowledgeIncident(id, command.optsWithGlobals()))
  incident
    .command('note')
    .description('add a note to the timeline of an incident')
    .argument('<id>', INCIDENT_ID)
    .argument('<text...>', 'the note')
    .addOption(orgOption())
    .action((id, text, _, command: Command) => noteIncident(id, text, command.optsWithGlobals()))
  incident
    .command('resolve')
    .description(
      'resolve an incident and create its postmortem on the plans Team and Pro; no new incident opens while alerts of its service still fire',
    )
    .argument('<id>', INCIDENT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => resolveIncident(id, command.optsWithGlobals()))
  incident
    .command('reopen')
    .description('open a resolved incident again')
    .argument('<id>', INCIDENT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => reopenIncident(id, command.optsWithGlobals()))
  incident
    .command('merge')
    .description('move the alerts and the timeline of an incident to another one, and resolve it')
    .argument('<id>', 'the number or id of the incident that is resolved')
    .argument('<into>', 'the number or id of the incident that continues')
    .addOption(orgOption())
    .action((id, into, _, command: Command) => mergeIncidents(id, into, command.optsWithGlobals()))
  incident
    .command('postmortem')
    .description('print the postmortem of a resolved incident as Markdown, or with --json as the document')
    .argument('<id>', INCIDENT_ID)
    .addOption(orgOption())
    .action((id, _, command: Command) => printPostmortem(id, command.optsWithGlobals()))
  incident
    .command('export')
    .description('write postmortems as Markdown, one file for each')
    .argument('<dir>', 'the directory; it is created if it is missing')
    .addOption(orgOption())
    .option('--from <time>', 'only incidents opened at or after this time, such as 2026-03-14', parseTime('--from'))
    .option('--to <time>', 'only incidents opened before this time; a date includes the whole day', parseTime('--to'))
    .option('--force', 'overwrite files of the same name')
    .action((directory, _, command: Command) => exportPostmortems(directory, command.optsWithGlobals()))
}

function addSilence(silence: Command, now: () => number): void {
  silence
    .command('add')
    .description('silence alerts: they are stored and counted, but open no incident and notify nobody')
    .argument('<matchers...>', `in Alertmanager's syntax, such as 'service="checkout"' 'severity=~"warning|info"'`)
    .addOption(orgOption())
    .requiredOption('--comment <text>', 'why the alerts are silenced')
    .requiredOption('--for <duration>', 'how long, such as 30m, 2h or 7d', parseSpan)
    .option('--start <time>', 'when it begins, such as 2026-11-20T22:00Z (default: now)', parseTime('--start'))
    .option(
      '--weekly <span>',
      'only at these times each week, such as "saturday 22:00-06:00 Europe/Berlin"',
      parseWeekly,
    )
    .action((matchers, _, command: Command) => addOrgSilence(matchers, command.optsWithGlobals(), now()))
  silence
    .command('list')
    .description('list the silences of an organization, newest first')
    .addOption(orgOption())
    .option('--expired', 'include ended silences')
    .action((_, command: Command) => listOrgSilences(command.optsWithGlobals()))
  silence
    .command('expire')
    .description('end a silence now; an alert that still fires then opens its incident')
    .argument('<id>', 'its id, or at least the first 8 characters')
    .addOption(orgOption())
    .action((id, _, command: Command) => expireOrgSilence(id, command.optsWithGlobals()))
  silence
    .command('import')
    .description('import the silences that "amtool silence query -o json" prints; safe to repeat')
    .argument('<file>', 'the file with the JSON, - for standard input')
    .addOption(orgOption())
    .action((file, _, command: Command) => importOrgSilences(file, command.optsWithGlobals()))
}
