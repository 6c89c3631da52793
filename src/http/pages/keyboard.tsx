/** Lists the keyboard shortcuts. */
import type { FC } from 'hono/jsx'

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['g s', 'Services'],
  ['g i', 'Incidents'],
  ['g a', 'Alerts'],
  ['g o', 'Sources'],
  ['g r', 'Reports'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['[', 'Earlier'],
  [']', 'Later'],
  ['a', 'Acknowledge the incident'],
  ['n', 'Write a note on the incident'],
  ['?', 'This list'],
]

export const KeyboardPage: FC = () => (
  <div class="narrow">
    <h1>Keyboard</h1>
    <p class="second lead">
      Shortcuts are off while you type in a field. No shortcut resolves an incident. Turn shortcuts off in the{' '}
      <a href="/settings">settings</a>.
    </p>
    <div class="card">
      <table>
        <thead>
          <tr>
            <th class="shrink">Key</th>
            <th>What it does</th>
          </tr>
        </thead>
        <tbody>
          {KEYS.map(([key, word]) => (
            <tr>
              <td class="shrink">
                {key.split(' ').map((one) => (
                  <>
                    <kbd>{one}</kbd>{' '}
                  </>
                ))}
              </td>
              <td>{word}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </div>
)
