/** Upper half of CP850, which `TextDecoder` lacks; DOS and older Windows programs write it. */
const cp850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤' +
  'ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

export const encodingNames = 'the name of an encoding, such as windows-1252, windows-1250, macintosh or cp850';

/** Canonical name, such as `windows-1252` for `latin1`; null: unknown. */
export function readEncoding(written: string): string | null {
  const name = written.trim().toLowerCase();
  if (/^(?:cp|ibm)?-?850$/.test(name)) return 'cp850';
  try {
    return new TextDecoder(/^mac-?roman$/.test(name) ? 'macintosh' : name).encoding;
  } catch {
    return null;
  }
}

/** Incremental decoder for an encoding of `readEncoding`; call it without bytes at the end. */
export function textReader(encoding: string): (bytes?: Uint8Array) => string {
  if (encoding === 'cp850') return (bytes = new Uint8Array(0)) => readHigh(Buffer.from(bytes).toString('latin1'));
  const decoder = new TextDecoder(encoding, { ignoreBOM: true });
  // Without `stream`, Node 20 reads Windows-1252 as Latin-1.
  return (bytes) => (bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true }));
}

function readHigh(text: string): string {
  return text.replaceAll(/[\x80-\xff]/g, (byte) => cp850[byte.charCodeAt(0) - 128] ?? '');
}
