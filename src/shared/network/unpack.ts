import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

/** Thrown when a compressed response body cannot be unpacked. The message contains only the encoding. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError' as const;
}

const unpackers = new Map(
  Object.entries({ gzip: gunzip, 'x-gzip': gunzip, deflate: inflate, br: brotliDecompress }).map(([name, unpack]) => [
    name,
    promisify<Buffer, { maxOutputLength: number }, Buffer>(unpack),
  ]),
);

/** Decompresses a body; a proxy may compress one unasked. Throws UnpackError, also above `mostBytes`. */
export async function unpackBody(body: Buffer, encoding: string | null, mostBytes: number): Promise<Buffer> {
  const names = (encoding ?? '').toLowerCase().split(',');
  let unpacked = body;
  // Encodings are undone in reverse order.
  for (const name of names.map((part) => part.trim()).toReversed()) {
    if (name === '' || name === 'identity' || unpacked.length === 0) continue;
    const unpack = unpackers.get(name);
    const fault = (why: string, cause?: unknown) =>
      new UnpackError(`the body cannot be unpacked (content-encoding: ${name.replaceAll(/[^\w.-]/g, '?').slice(0, 20)}): ${why}`, {
        cause,
      });
    if (unpack === undefined) throw fault('this encoding is not known');
    unpacked = await unpack(unpacked, { maxOutputLength: mostBytes }).catch((error: unknown) => {
      throw fault('its bytes are not of this encoding, or too many come out', error);
    });
  }
  return unpacked;
}
