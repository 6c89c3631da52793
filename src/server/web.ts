/** Provides assets, compression and proxy settings for the web pages. */
import { createHash } from 'node:crypto'
import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib'
import type { Config } from '../config.ts'
import type { Source } from '../domain/event/event.ts'
import { once } from '../domain/memoize.ts'
import { SCOPES, type Scope } from '../domain/request/token.ts'
import type { Notices } from './notices.ts'

/**
 * A document that is the same for everybody. `tag` identifies the content. All responses share the bytes, which are
 * compressed once.
 */
export type WebAsset = {
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  readonly gzip: () => Uint8Array<ArrayBuffer>
  readonly tag: string
}

/** Assets by URL. The URLs of the style sheet and the script change with their content. */
type WebAssets = { readonly style: string; readonly script: string; readonly find: (path: string) => WebAsset | null }

/** Settings for a proxy in front of the pages: the user name header and the path prefix. */
type WebSettings = {
  /** The header that contains the user name, in lower case; '' if no proxy authenticates users. */
  readonly userHeader: string
  /** The organization of users authenticated by a proxy; '' if there is only one organization. */
  readonly userOrganization: string
  readonly userScopes: readonly Scope[]
  readonly pathPrefix: string
}

/** A webhook request that belongs to the example data. */
type ExampleRequest = { readonly at: number; readonly source: Source; readonly body: unknown }

export type Web = {
  readonly version: string
  /** The command that started the program. Pages show this name in suggested commands. */
  readonly program: string
  /** This process's secret for the CSRF tokens of users authenticated by a proxy. */
  readonly csrfKey: string
  readonly notices: Notices
  readonly assets: () => WebAssets
  readonly gzip: (text: string) => Uint8Array<ArrayBuffer>
  readonly settings: () => WebSettings
  /** Returns the requests that the example senders have sent until `now`, a Unix time in milliseconds. */
  readonly example: (now: number) => readonly ExampleRequest[]
}

/** The sizes of the PNG icon that the web app manifest names, in pixels. */
export const APP_ICON_SIZES = [192, 512]

type AssetParts = {
  /** Reads the style sheet and the script. Called once, for the first page. */
  readonly load: () => { readonly style: string; readonly script: string }
  readonly icons: Readonly<Record<string, string>>
  /** Reads the icon on a phone's home screen as a PNG, because not every phone accepts an SVG. */
  readonly appIcon: (size: number) => Uint8Array<ArrayBuffer>
  readonly manifest: string
}

export function createWeb(parts: Omit<Web, 'assets' | 'gzip'> & AssetParts): Web {
  const { load, icons, appIcon, manifest, ...shared } = parts
  return { ...shared, assets: once(() => createAssets({ load, icons, appIcon, manifest })), gzip }
}
export function webSettings(config: Config): WebSettings {
  const scopes = SCOPES.filter((scope) => config['user-scopes'].includes(scope))
  return {
    userHeader: config['user-header'].toLowerCase(),
    userOrganization: config['user-organization'],
    userScopes: scopes.length > 0 ? scopes : ['read', 'write'],
    pathPrefix: config['path-prefix'],
  }
}

function createAssets({ load, icons, appIcon, manifest }: AssetParts): WebAssets {
  const texts = load()
  const style = createAsset(texts.style, 'text/css; charset=UTF-8')
  const script = createAsset(texts.script, 'text/javascript; charset=UTF-8')
  const paths = { style: `/assets/${style.tag}.css`, script: `/assets/${script.tag}.js` }
  const byPath = new Map([
    [paths.style, style],
    [paths.script, script],
    ...Object.entries(icons).map(
      ([name, text]) => [`/assets/${name}.svg`, createAsset(text, 'image/svg+xml')] as const,
    ),
    ['/assets/app.webmanifest', createAsset(manifest, 'application/manifest+json')],
  ])
  const pngs = new Map(
    APP_ICON_SIZES.map((size) => [`/assets/app-${size}.png`, once(() => createAsset(appIcon(size), 'image/png'))]),
  )
  return { ...paths, find: (path) => byPath.get(path) ?? pngs.get(path)?.() ?? null }
}

export function createAsset(content: string | Uint8Array<ArrayBuffer>, type: string): WebAsset {
  const tag = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const body = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return { type, body, gzip: once(() => gzip(content)), tag }
}

/** Returns the SHA-256 of a text in Base64, for a Content-Security-Policy. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

// Compresses texts for responses.

/** The compression level. Compressing a 60 kB page takes less than a millisecond. */
const LEVEL = 4

function gzip(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(content, { level: LEVEL }))
}

/** Compresses a text whose beginning is sent at once and whose rest follows later. */
export function gzipInTwo(start: string, rest: Promise<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: async (controller) => {
      controller.enqueue(gzipSync(start, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH }))
      // The stream might be canceled in the meantime, because the client is gone.
      const bytes = Buffer.from(await rest)
      controller.enqueue(Buffer.concat([deflateRawSync(bytes, { level: LEVEL }), trailerOf(Buffer.from(start), bytes)]))
      controller.close()
    },
  })
}

/** Returns the end of a gzip file: the checksum and the size of the text (RFC 1952, section 2.3.1). */
function trailerOf(start: Buffer, rest: Buffer): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(rest, crc32(start)), 0)
  trailer.writeUInt32LE((start.length + rest.length) % 2 ** 32, 4)
  return trailer
}
