/** Short names for what every part of the script does, which keep the script small. */

export function byId(id: string): HTMLElement | null {
  return document.getElementById(id)
}

export function parsePage(html: string): Document {
  return new DOMParser().parseFromString(html, 'text/html')
}
