/** The Markdown of postmortems: untrusted text is never interpreted as Markdown or HTML. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { merge } from '../../src/domain/postmortem/edits.ts'
import { link, plain, prose, rich, safeAddress } from '../../src/domain/postmortem/escape.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { factsOf } from './postmortem-goldens.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '[x](javascript:alert(1))',
  '![x](http://evil.test/p.png)',
  '`code`',
  '``` fence',
  '~~~ fence',
  '__bold__ *it* ** x** **',
  '# heading',
  '\n# heading',
  '\n\n---\n',
  '\r\n===\r\n',
  '| cell | cell |',
  '\n| --- |\n',
  '- item',
  '\n1. item',
  '1) item',
  '> quote',
  '    code',
  '\tcode',
  '[ref]: http://evil.test',
  '[^1]: note',
  '&lt;b&gt;',
  '&#60;',
  '<!-- hidden',
  '<http://evil.test>',
  'http://evil.test',
  'www.evil.test',
  'a@evil.test @team',
  '\\',
  'end\\\n',
  '\u2028# x',
  '\u0085- x',
  '\u0000\u001b[31m',
  '\u202e',
  '$$x$$',
  '~~gone~~',
  '\ud800',
  '<!DOCTYPE x>',
  '*',
  '_x_',
  ':::',
  '+ x',
  '= x',
  ']]>',
  '\u{1d173}\u{1f525}',
] as const

const BASE = factsOf('late-and-reopened')

/** Returns facts with `text` in every field that contains untrusted text. */
function filled(text: string): PostmortemFacts {
  const incident = { ...BASE.incident, title: text, service: { ...BASE.incident.service, namespace: text, name: text } }
  const labels = { [text]: text }
  return {
    ...BASE,
    incident,
    services: [{ uuid: 's', namespace: '', name: `${text}2` }],
    alerts: BASE.alerts.map((one) => ({
      ...one,
      name: text,
      summary: text,
      labels,
      links: { [text]: `https://x.test/${text}` },
      node: text,
      objects: [`Pod/${text}`, `Node/${text}`],
      hint: text,
    })),
    entries: [
      ...BASE.entries.map((one) => ({ ...one, actor: text })),
      { at: BASE.generatedAt, kind: text, code: text, text, actor: text, ref: `alert/${text}` },
    ],
    events: BASE.events.map((one) => ({ ...one, name: text, object: text, text, alertId: null })),
    changes: BASE.changes.map((one) => ({ ...one, ref: `${text}${one.ref}`, branch: text, sha: text })),
    correlations: BASE.correlations.map((one) => ({
      ...one,
      change: { ...one.change, ref: `${text}${one.change.ref}` },
      reasons: [{ code: text, text }],
    })),
    earlier: [{ ref: `alert/${text}`, name: text, startsAt: BASE.incident.startedAt - 1 }],
  }
}

function written(text: string): string {
  const action = { id: 'own', text, owner: text, due: text }
  const lessons = { wentWell: text, wentBadly: text, lucky: text }
  return markdown(
    merge(generate(filled(text)), {
      summary: text,
      impact: { customers: text },
      rootCause: text,
      lessons,
      actions: [action],
    }),
  )
}

/** Returns the active Markdown, without escaped characters and our own URLs and code spans. */
function active(text: string): string {
  return text
    .replace(/\(<https:\/\/x\.test\/[\w\-.~:/?#@!$&'()*+,;=%]*>\)/g, '(<>)')
    .replace(/\\[!-/:-@[-`{-~]/g, 'x')
    .replace(/`[\w\-.:/%?=&#+,;]*`/g, '')
}

function count(text: string, pattern: RegExp): number {
  return [...active(text).matchAll(pattern)].length
}

for (const hostile of HOSTILE) {
  test(`${JSON.stringify(hostile)} has no effect`, () => {
    const [safe, text] = [written('x'), written(`x ${hostile} x`)]
    for (const mark of [
      /</g,
      /`/g,
      /\*/g,
      /(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_])/gu,
      /\][[(:]/g,
      /\[\^/g,
      /\|/g,
      /~/g,
      /\$/g,
      /&(?=#?\w+;)/g,
      /(?<![\w.-])@\w/g,
      /^#/gm,
      /^>/gm,
      /^\| /gm,
      /^ {4}/gm,
      /\bwww\./gi,
      /(?<!\(<)https?:/gi,
    ]) {
      assert.ok(count(text, mark) <= count(safe, mark), `${mark} ${count(text, mark)} > ${count(safe, mark)}`)
    }
  })

  test(`${JSON.stringify(hostile)} has no effect at the start of a line`, () => {
    assert.doesNotMatch(active(plain(hostile)), /^(?:\s|[-+=:#>|~`]|\d+[.)])/)
    for (const line of prose(hostile).split('\n')) {
      assert.doesNotMatch(active(line), /^(?!- \S|\d+\. \S)(?:\s|[-+=:#>|~`]|\d+[.)])/)
    }
    assert.doesNotMatch(plain(hostile), /[\n\r\u2028\u0085\u0000\u001b\u202e]|^\s|\s$/)
  })
}

test('the check finds active text', () => {
  assert.deepEqual(
    [count('a <b> \\<b\\>', /</g), count('\\# a\n# b', /^#/gm), count('http\\://a http://a', /https?:/g)],
    [1, 1, 1],
  )
})

for (const [text, expected] of [
  ['a_b *c* _d_', 'a_b \\*c\\* \\_d\\_'],
  ['shop/cart#31', 'shop/cart#31'],
  ['shop/cart@5d4f8c7b9 told @team', 'shop/cart@5d4f8c7b9 told \\@team'],
  ['[Warning] a[0] & b > c!', '\\[Warning] a[0] & b > c!'],
  ['![x](y) [x][y] [^1]', '!\\[x\\](y) \\[x\\][y] \\[^1]'],
  ['# x', '\\# x'],
  ['&lt; & &#60;', '\\&lt; & \\&#60;'],
  ['2. x', '2\\. x'],
  ['-1', '\\-1'],
  ['one\ntwo', 'one two'],
  ['see http://a.test/b_c?d=1&e=_', 'see `http://a.test/b_c?d=1&e=_`'],
  ['www.a.test is down', '`www.a.test` is down'],
  ['[x](http://a.test)', '\\[x\\](`http://a.test`)'],
  ['mailto:a', 'mailto\\:a'],
  ['http:', 'http\\:'],
  ['', ''],
] as const) {
  test(`${JSON.stringify(text)} is written as ${JSON.stringify(expected)}`, () => assert.equal(plain(text), expected))
}

for (const [text, expected] of [
  ['a\r\n\r\nb', 'a\n\nb'],
  ['a\nb', 'a\\\nb'],
  ['a\n- b\n- c\nd', 'a\n\n- b\n- c\n\nd'],
  ['- <b>', '- \\<b>'],
  ['* a\n2) b\n3. c', '- a\n\n2. b\n3. c'],
  ['a\n---', 'a\\\n\\---'],
  ['**a [b](https://c.test/d)** **', '**a [b](<https://c.test/d>)** \\*\\*'],
  ['![x](https://a.test/p.png)', '!\\[x\\](`https://a.test/p.png`)'],
  ['[x](ftp://a.test) [^1](https://a.test)', '\\[x\\](`ftp://a.test`) \\[^1\\](`https://a.test`)'],
  ['\n\n', ''],
] as const) {
  test(`in prose, ${JSON.stringify(text)} is written as ${JSON.stringify(expected)}`, () =>
    assert.equal(prose(text), expected))
}

test('a note in the timeline keeps its list, bold text and links on one line', () => {
  assert.equal(
    rich('**Full**\n- freed 40 GB\n- [next](https://a.test)'),
    '**Full** • freed 40 GB • [next](<https://a.test>)',
  )
})

for (const address of [
  'javascript:alert(1)',
  ' data:text/html,x',
  'ftp://a.test',
  '//a.test',
  'http:a',
  'https://',
  'JAVASCRIPT:http://x',
  '',
]) {
  test(`${JSON.stringify(address)} is not a link`, () => {
    assert.equal(safeAddress(address), null)
    assert.equal(link('x', address), 'x')
  })
}

test('a URL cannot break out of its brackets', () => {
  assert.equal(link('a]b', 'https://a.test/>)\n<b>"\\'), '[a\\]b](<https://a.test/%3E)%0A%3Cb%3E%22%5C>)')
})

test('a text of thousands of lines is escaped at once', () => {
  for (const line of ['\r', '\n\n', 'a\n', '# x\n', '1. \n']) {
    const text = line.repeat(65_536 / line.length)
    const began = process.cpuUsage().user
    prose(text)
    const ms = (process.cpuUsage().user - began) / 1_000
    assert.ok(ms < 100, `${JSON.stringify(line)}: ${ms} ms`)
  }
})
