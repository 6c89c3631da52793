/** The fields of an alert beside those that decide whether it fires. */
import type { Labels, Links } from '../event/event.ts'

/** The container or object kind that is part of the fingerprint of a Kubernetes condition. */
export type AlertPart = { readonly container: string | null; readonly kind: string }

/** The fields of an alert that are stored only in the database. */
export type AlertTexts = { readonly labels: Labels; readonly annotations: Labels; readonly links: Links }
