#!/usr/bin/env node
/*
 * Checks a bundle of evidence: node check.mjs bundle.zip [--key KEY]
 *
 * It needs Node.js 20 and nothing else. It ends with 0 when every byte of the file is the one that was signed, with 1 when one is not, and
 * with 2 when it cannot tell. KEY is the key that the maker of the bundle has made known (`carillon evidence key`): a forged bundle carries
 * a key of its own, so compare the two, or give KEY here.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';

const [path, flag, given] = process.argv.slice(2);
if (path === undefined || (flag !== undefined && (flag !== '--key' || given === undefined)))
  end(2, 'Usage: node check.mjs bundle.zip [--key KEY]');

let zip;
try {
  zip = readFileSync(path);
} catch (error) {
  end(2, `${path} cannot be read: ${error.message}`);
}

try {
  const files = readZip(zip);
  if (new Set(files.map(([name]) => name)).size !== files.length) refuse('it has two files of one name');
  const { 'manifest.json': manifestBytes, 'manifest.sig': signature, ...rest } = Object.fromEntries(files);
  if (manifestBytes === undefined || signature === undefined) refuse('it has no manifest, or no signature of it');
  const manifest = JSON.parse(manifestBytes.toString('utf8'));
  const key = createPublicKey({ key: Buffer.from(String(manifest.key), 'base64'), type: 'spki', format: 'der' });
  if (key.asymmetricKeyType !== 'ed25519') refuse('its key is of another kind');
  if (given !== undefined && given !== manifest.key) refuse('it was signed with another key than the one given');
  const signed = Buffer.from(signature.toString('latin1'), 'base64');
  if (signed.toString('base64') !== signature.toString('latin1') || !verify(null, manifestBytes, key, signed))
    refuse('the signature is not that of its manifest');
  for (const name of Object.keys(manifest.files)) if (!(name in rest)) refuse(`${name} is missing`);
  for (const [name, bytes] of Object.entries(rest)) {
    const known = manifest.files[name];
    if (known === undefined) refuse(`${name} was added`);
    if (known.bytes !== bytes.length || known.sha256 !== createHash('sha256').update(bytes).digest('hex')) refuse(`${name} was changed`);
  }
  // What stands between the files could hide something, too: the archive made anew must be the same, byte for byte.
  if (!zip.equals(writeZip(files))) refuse('the archive holds bytes that belong to no file');
  const count = Object.keys(manifest.files).length;
  end(0, `Whole: ${count} files as they were signed.\nMade    ${manifest.madeAt}\nNumber  ${manifest.number}\nKey     ${manifest.key}`);
} catch (error) {
  if (error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError || error.code !== undefined) {
    refuse(`it is no bundle, or was cut off (${error.message})`);
  }
  throw error;
}

/** The files of an archive without compression, in its order, by its directory at the end. */
function readZip(bytes) {
  const directory = bytes.length - 22;
  if (bytes.readUInt32LE(directory) !== 0x06054b50) refuse('it is no bundle, or was cut off');
  const files = [];
  let at = bytes.readUInt32LE(directory + 16);
  for (let left = bytes.readUInt16LE(directory + 10); left > 0; left -= 1) {
    const size = bytes.readUInt32LE(at + 20);
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    const from = bytes.readUInt32LE(at + 42) + 30 + nameLength;
    files.push([name, bytes.subarray(from, from + size)]);
    at += 46 + nameLength;
  }
  return files;
}

/** As the maker of bundles writes them: nothing is compressed, and no file has a time. */
function writeZip(files) {
  const [parts, directory] = [[], []];
  let offset = 0;
  for (const [name, bytes] of files) {
    const title = Buffer.from(name, 'utf8');
    const facts = Buffer.alloc(26);
    for (const [at, value] of [[0, 20], [2, 0x0800], [8, 0x21], [22, title.length]]) facts.writeUInt16LE(value, at); // prettier-ignore
    for (const [at, value] of [[10, crc32(bytes)], [14, bytes.length], [18, bytes.length]]) facts.writeUInt32LE(value, at); // prettier-ignore
    parts.push(Buffer.from([0x50, 0x4b, 3, 4]), facts, title, bytes);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), facts, place, title);
    offset += 30 + title.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  for (const [at, value] of [[0, 0x06054b50], [12, size], [16, offset]]) end.writeUInt32LE(value, at); // prettier-ignore
  for (const at of [8, 10]) end.writeUInt16LE(files.length, at);
  return Buffer.concat([...parts, ...directory, end]);
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function refuse(why) {
  end(1, `NOT WHOLE: ${path}: ${why}.`);
}

function end(code, text) {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(code);
}
