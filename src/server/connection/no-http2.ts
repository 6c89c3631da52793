/** Stands in for `node:http2` in the executable, because loading HTTP/2 takes longer than the rest of HTTP. */
export class Http2ServerRequest {}
export const constants = {}
