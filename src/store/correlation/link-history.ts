/** What computing links reads and writes. */

import type { PipelineChange } from '../../domain/correlation/change.ts'
import type { ConditionEvent, Link } from '../../domain/correlation/correlation.ts'
import type { ScalingEvent } from '../../domain/correlation/rollout.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveImage } from '../../domain/service/image.ts'

export type LinkKey = {
  readonly alertId: number
  readonly changeKind: 'pipeline' | 'rollout'
  readonly changeRef: string
}
/** `changeEvent`: the UUID of the change's event. */
export type LinkOwner = LinkKey & {
  readonly organizationId: number
  readonly serviceId: number
  readonly changeEvent: string
}

/** Stores links, and reads the history from which links are computed. Periods are inclusive, in Unix milliseconds. */
export type LinkHistory = {
  /** Returns a service's pipelines that started within this period, newest first. */
  readonly pipelines: (serviceId: number, from: number, to: number) => readonly PipelineChange[]
  /** Returns a pipeline, or null if it did not change the service. */
  readonly pipeline: (service: LiveService, ref: string) => PipelineChange | null
  /** Returns a service's most recent scaling events before a time. */
  readonly scalings: (serviceId: number, to: number) => readonly ScalingEvent[]
  readonly images: (serviceId: number) => readonly LiveImage[]
  /** Returns the events that show a condition, earliest first. */
  readonly sightings: (alertId: number, from: number, to: number) => readonly ConditionEvent[]
  /** Returns a service's conditions that can serve as evidence: not from CI, and not of severity info. */
  readonly evidence: (serviceId: number, from: number, to: number) => readonly number[]
  /** Returns the newest pipelines already linked to a condition. */
  readonly linkedPipelines: (alertId: number) => readonly PipelineChange[]
  /** Returns the conditions already linked to a change of the service. */
  readonly linkedAlerts: (serviceId: number, changeRef: string) => readonly number[]
  /** Returns the changes already linked to a condition, as `rollout shop/cart@6d4cf56db6`. */
  readonly linkedChanges: (alertId: number) => readonly string[]
  /** Inserts a link, or updates the one that exists. */
  readonly store: (of: LinkOwner, link: Link, made: { readonly id: string; readonly now: number }) => void
  /** Deletes a link unless it has a user's verdict. */
  readonly drop: (key: LinkKey) => void
}
