/** One word for one thing, in the documentation and in the texts of pages, commands, messages and postmortems. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { PAGES, ROOT } from './pages.ts'

/** [what must not occur, the word to use, an example]. Names in the API, such as `source`, keep their names. */
const WORDS: readonly (readonly [wrong: RegExp, right: string, example: string])[] = [
  [/\$TOKEN\b/, '$INCMON_TOKEN', 'Bearer $TOKEN'],
  [/\bsource silent\b|\b[Tt]he source (?:is|was|sent|stopped|last)\b/, 'sender', 'The source stopped sending.'],
  [
    /\b[Ii]ncidents ended\b|\b[Ii]ncidents? (?:has|have|is|are) ended\b|\bended incidents?\b/,
    'resolved',
    'Two incidents ended.',
  ],
  [/\b(?:[Aa]|[Tt]he|[Ee]ach|[Ss]uspected) correlations?\b/, 'link', 'The correlation is strong.'],
  [/\b(?:strong|probable|weak) (?:link|suspect)s?\b/, 'likely, possible or unlikely', 'A probable link.'],
  [/\b[Pp]ost-mortems?\b/, 'postmortem', 'Read the post-mortem.'],
  [/\bAlert ?[mM]anager\b(?<!Alertmanager)/, 'Alertmanager', 'AlertManager sends'],
  [/(?<![-\w])Gitlab(?![-\w])|\bgit lab\b/, 'GitLab', 'Gitlab sends'],
  [/(?<![-\w])(?:Incmon|IncMon)(?![-\w])/, 'incmon', 'Incmon stores'],
  [/\b[Ww]eb hooks?\b/, 'webhook', 'a web hook'],
  [/\b[Tt]imezones?\b/, 'time zone', 'the timezone'],
  [/\b[Kk]8s\b/, 'Kubernetes', 'a k8s cluster'],
  [/\b[Ll]og (?:in|out) (?:to|of)\b|\blogged (?:in|out)\b/, 'sign in, sign out', 'Log in to incmon.'],
  [/\b[Ee]-mails?\b/, 'email', 'an e-mail'],
  [/\b(?:SEV|[Pp]riority) of (?:an|the) alert\b/, 'severity', 'the priority of an alert'],
  [/\b[Aa]ck(?:ed|nowledgment)s?\b/, 'acknowledged, acknowledgement', 'Ada acked it.'],
]

/** Prose without code. An API name or a sender's own text may use another word. */
function proseOf(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, '').replace(/`[^`\n]*`/g, '')
}

/** The string literals and the text between the tags of a source file. */
function shownOf(code: string): string {
  const plain = code.replace(/\/\*[\s\S]*?\*\/|^import .*$|(?<![:'"`])\/\/.*$/gm, '')
  const strings = [...plain.matchAll(/'([^'\n]* [^'\n]*)'|`([^`]* [^`]*)`|>([^<>{}]* [^<>{}]*)</g)]
  return strings.map(([, single, template, between]) => single ?? template ?? between ?? '').join('\n')
}

const TEXTS = globSync(
  'src/{web,cli,http,notify,server,actions,domain/{postmortem,notification,doctor,suspect,incident}}/**/*.{ts,tsx}',
  {
    cwd: ROOT,
  },
).map((path) => ({ path, text: shownOf(readFileSync(ROOT + path, 'utf8')) }))

function faultsIn(text: string): string[] {
  return WORDS.flatMap(([wrong, right]) => {
    const found = wrong.exec(text)
    return found ? [`“${found[0]}”: write ${right}`] : []
  })
}

for (const [wrong, right, example] of WORDS) {
  test(`“${example}” is found: the word is ${right}`, () => assert.match(example, wrong))
}

test('the documentation has one word for one thing', () => {
  const shell = (text: string) => (/\$TOKEN\b/.test(text) ? ['$TOKEN: write $INCMON_TOKEN'] : [])
  const faults = PAGES.flatMap(({ path, text }) =>
    [...faultsIn(proseOf(text)), ...shell(text)].map((fault) => `${path}: ${fault}`),
  )
  assert.deepEqual(faults, [])
})

test('pages, commands, messages and postmortems have one word for one thing', () => {
  assert.ok(TEXTS.length > 200)
  assert.deepEqual(
    TEXTS.flatMap(({ path, text }) => faultsIn(text).map((fault) => `${path}: ${fault}`)),
    [],
  )
})
