import type { Readable } from 'node:stream';
import { Parser } from 'saxen';

export interface XmlHandlers {
  /** `name` comes without its namespace prefix. */
  open(name: string, attribute: (name: string) => string | undefined): void;
  /** May come in several pieces. */
  text?(text: string): void;
  close?(name: string): void;
}

/** Longer than any real token; without this bound an unclosed token would fill the memory. */
const longestToken = 4 * 1024 * 1024;

/** Reads XML chunk by chunk and yields after each. Ignores document types, so no entity expands. Throws Error when it is not XML. */
export async function* readXml(stream: Readable, handlers: XmlHandlers): AsyncGenerator<void> {
  const decoder = new TextDecoder();
  const parser = new Parser();
  let silentFor = 0;
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('openTag', (name, attributes) => {
    silentFor = 0;
    handlers.open(localName(name), (attributeName) => attributeOf(attributes(), attributeName));
  });
  parser.on('text', (text) => handlers.text?.(decodeEntities(text)));
  parser.on('cdata', (text) => handlers.text?.(text));
  parser.on('closeTag', (name) => {
    silentFor = 0;
    handlers.close?.(localName(name));
  });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    silentFor += chunk.length;
    parser.write(decoder.decode(chunk, { stream: true }));
    if (silentFor > longestToken) throw new Error('a part of it does not end');
    yield;
  }
  parser.end();
  yield;
}

export async function readAllXml(stream: Readable, handlers: XmlHandlers): Promise<void> {
  for await (const _ of readXml(stream, handlers)) continue;
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function attributeOf(attributes: Readonly<Record<string, string>>, attributeName: string): string | undefined {
  const value = attributes[attributeName];
  return value === undefined ? undefined : decodeEntities(value);
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[String(name)] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
  });
}
