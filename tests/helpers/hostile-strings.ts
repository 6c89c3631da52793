/** Sixty strings that attack a page: scripts, attributes, links, encodings, direction marks, and extreme lengths. */

const SCRIPT = 'window.attacked=1'

/** Strings that run a script if a page outputs them without escaping. */
const MARKUP = [
  `<script>${SCRIPT}</script>`,
  `</script><script>${SCRIPT}</script>`,
  `<img src=x onerror=${SCRIPT}>`,
  `"><img src=x onerror=${SCRIPT}>`,
  `'><svg onload=${SCRIPT}>`,
  `<svg><script>${SCRIPT}</script></svg>`,
  `<svg/onload=${SCRIPT}//`,
  `<svg><animate onbegin=${SCRIPT} attributeName=x dur=1s>`,
  `<math><mtext></p><style><img src=x onerror=${SCRIPT}></style>`,
  `<iframe srcdoc="<script>parent.attacked=1</script>">`,
  `<iframe src="javascript:parent.attacked=1"></iframe>`,
  `<object data="javascript:${SCRIPT}"></object>`,
  `<embed src="data:text/html,<script>${SCRIPT}</script>">`,
  `<a href="javascript:${SCRIPT}">click</a>`,
  `<a href="jav&#x09;ascript:${SCRIPT}">click</a>`,
  `<form action="javascript:${SCRIPT}"><button autofocus>`,
  `<input autofocus onfocus=${SCRIPT}>`,
  `<details open ontoggle=${SCRIPT}>`,
  `<video><source onerror=${SCRIPT}></video>`,
  `<body onload=${SCRIPT}>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=javascript:${SCRIPT}">`,
  `<link rel=stylesheet href="https://evil.example/x.css">`,
  `<style>*{display:none}</style>`,
  `<template shadowrootmode=open><script>${SCRIPT}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${SCRIPT}>">`,
  `<!--><img src=x onerror=${SCRIPT}>-->`,
  `<![CDATA[<img src=x onerror=${SCRIPT}>]]>`,
  `</title><script>${SCRIPT}</script>`,
  `</textarea><script>${SCRIPT}</script>`,
  `</option></select><script>${SCRIPT}</script>`,
  `" onmouseover="${SCRIPT}" x="`,
  `' onmouseover='${SCRIPT}' x='`,
  '` onmouseover=`window.attacked=1` x=`',
  `" style="position:fixed;inset:0" x="`,
  `&lt;script&gt;${SCRIPT}&lt;/script&gt;`,
  `&#60;script&#62;${SCRIPT}&#60;/script&#62;`,
  `%3Cscript%3E${SCRIPT}%3C/script%3E`,
  `\\u003cscript\\u003e${SCRIPT}\\u003c/script\\u003e`,
]

/** Strings that are dangerous in a link, a template, a query or a file name. */
const WORDS = [
  `javascript:${SCRIPT}`,
  `JaVaScRiPt:${SCRIPT}//https://a.example`,
  `data:text/html,<script>${SCRIPT}</script>`,
  `//evil.example/x`,
  `https://a.example/"onclick="${SCRIPT}`,
  `[click](javascript:${SCRIPT})`,
  `{{constructor.constructor('${SCRIPT}')()}}`,
  `\${${SCRIPT}}`,
  `'; DROP TABLE alerts; --`,
  `../../../etc/passwd`,
  `__proto__`,
  `constructor`,
]

/** Strings that break the layout or hide nearby text. */
const SHAPES = [
  'W'.repeat(253),
  'ﷺ'.repeat(120),
  `abc\u202Etxt.exe`,
  `\u2066left\u2067right`,
  `Z\u0351\u036B\u0343\u036A\u0302\u036B\u033D`.repeat(20),
  '👩‍👩‍👧‍👦'.repeat(40),
  'שלום עולם',
  'مرحبا بالعالم',
  '\u200B\u200B\u200B',
]

export const HOSTILE: readonly string[] = [...MARKUP, ...WORDS, ...SHAPES]
