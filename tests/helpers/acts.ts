/**
 * Actions of people, performed like the API does: the engine decides each change, and it is on disk when the promise
 * resolves.
 */

import type { Deps } from '../../src/actions/deps.ts'
import * as alerts from '../../src/engine/changes/alerts.ts'
import * as incidents from '../../src/engine/changes/incidents/incident-changes.ts'
import { mergeIncidents as mergeInto } from '../../src/engine/changes/incidents/merge.ts'
import * as services from '../../src/engine/changes/services.ts'
import * as silences from '../../src/engine/changes/silences/silences.ts'
import type { Context } from '../../src/engine/state/context.ts'

type Act<Args extends unknown[], Outcome> = (ctx: Context, ...args: [...Args, now: number]) => Outcome

/** Wraps an action so that it takes an engine instead of a context. The time is the engine's. */
function byEngine<Args extends unknown[], Outcome>(act: Act<Args, Outcome>) {
  return ({ engine }: Pick<Deps, 'engine'>, organizationId: number, ...args: Args): Promise<Outcome> =>
    engine.run(organizationId, (ctx, now) => act(ctx, ...args, now))
}

export const resolveAlert = byEngine(alerts.resolveAlert)
export const createIncident = byEngine(incidents.createIncident)
export const changeIncident = byEngine(incidents.changeIncident)
export const mergeIncidents = byEngine(mergeInto)
export const addNote = byEngine(incidents.addNote)
export const createService = byEngine(services.createService)
export const updateService = byEngine(services.updateService)
export const mergeServices = byEngine((ctx, from: string, into: string, now: number) =>
  services.mergeServices(ctx, from, into, now),
)
export const createSilence = byEngine(silences.createSilence)
export const changeSilence = byEngine(silences.changeSilence)
export const expireSilence = byEngine((ctx, id: string, now: number) => silences.expireSilence(ctx, id, now, 'Ann'))
export const importSilences = byEngine(silences.importSilences)
