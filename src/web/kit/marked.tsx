/** A mark with text that can wrap, and the box for a new secret. */
import type { Child, FC } from 'hono/jsx'
import { Secret } from './form.tsx'
import { type Level, Mark } from './mark.tsx'

export const Marked: FC<{ level: Level; class?: string; children?: Child }> = ({ level, class: look, children }) => (
  <span class="with-icon">
    <Mark level={level} />
    <span class={look}>{children}</span>
  </span>
)

/** A secret that was just created, with a sentence about it. */
export const NewSecret: FC<{ text: string; about: string }> = ({ text, about }) => (
  <Secret text={text}>
    <Marked level="done">
      <b>{about}</b> It is shown only once:
    </Marked>
  </Secret>
)
