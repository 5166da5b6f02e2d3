import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { zoneDataRelease } from '../../rules/hours/time-zone.ts';
import { jsonText } from '../../shared/input/printable.ts';
import { withInstants } from '../../shared/input/times.ts';
import { isPlaced, readEvidence, readEvidenceKey, type Evidence, type EvidenceRow } from '../../ledger/read/evidence.ts';
import { verifyLog, type LogReport } from '../../verify/log.ts';
import { renderSummary, type Findings } from './summary.ts';
import type { Store } from '../../ledger/tx.ts';

export interface BundleRequest {
  e164: string;
  /** Leaves out calls requested earlier; null: none. */
  since: number | null;
  now: number;
  /** Name of the requester, for the log. */
  by: string;
}

/** Conversations of the number's calls, as stored by the service. */
export interface ConversationFile {
  name: string;
  bytes: Uint8Array;
}

export interface Bundle {
  bytes: Uint8Array;
  rows: readonly Pick<EvidenceRow, 'campaignId' | 'recipientId'>[];
  calls: number;
  ids: readonly string[];
  otherNumbers: number;
  findings: number;
}

/** Reads, verifies and signs the evidence. Null: the database has nothing on the number. */
export async function makeBundle(
  store: Store,
  request: BundleRequest,
  more: { conversations?: readonly ConversationFile[]; onProgress?: (events: number) => void } = {},
): Promise<Bundle | null> {
  const evidence = await readEvidence(store, request);
  if (evidence === null) return null;
  const { onProgress, conversations = [] } = more;
  const findings = findingsOf(await verifyLog(store.db, null, onProgress === undefined ? {} : { onProgress }), evidence);
  const key = createPrivateKey(await readEvidenceKey(store));
  const files: [string, Uint8Array][] = [
    ['summary.html', text(renderSummary(evidence, { findings, by: request.by, conversations: conversations.length }))],
    ['calls.json', json({ ...evidence, campaigns: undefined, events: undefined })],
    ['events.jsonl', text(evidence.events.map((event) => `${jsonText(withInstants(event))}\n`).join(''))],
    ...evidence.campaigns.map((campaign): [string, Uint8Array] => [`campaigns/${campaign.campaignId}.json`, json(campaign)]),
    ['verify.json', json({ ...findings })],
    ...conversations.map(({ name, bytes }): [string, Uint8Array] => [`conversations/${name}`, bytes]),
    ['check.mjs', readFileSync(new URL('check.mjs', import.meta.url))],
  ];
  return {
    bytes: seal(files, { key, evidence, by: request.by }),
    rows: evidence.rows.map(({ campaignId, recipientId }) => ({ campaignId, recipientId })),
    calls: evidence.rows.reduce((sum, { calls }) => sum + calls.filter(isPlaced).length, 0),
    ids: evidence.ids,
    otherNumbers: evidence.otherNumbers,
    findings: findings.violations.length,
  };
}

/** Public half of a database's signing key: Ed25519, DER in base64. */
export function publicKeyOf(privateKey: string): string {
  return publicText(createPrivateKey(privateKey));
}

function publicText(key: KeyObject): string {
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Violations that name one of the number's calls, rows or log lines. */
function findingsOf({ rules, events, notes }: LogReport, { rows, events: own }: Evidence): Findings {
  const ids = new Set(rows.flatMap(({ recipientId, calls }) => [recipientId, ...calls.map(({ attemptId }) => attemptId)]));
  const seqs = new Set(own.map(({ seq }) => seq));
  const violations = rules.flatMap(({ rule, promise, violations: found }) =>
    found
      .filter(({ seq, what }) => (seq !== null && seqs.has(seq)) || what.split(/[\s,;:]+/).some((word) => ids.has(word)))
      .map(({ what }) => ({ rule, promise, what })),
  );
  return { events, promises: rules.length, violations, notes };
}

function seal(
  files: readonly [string, Uint8Array][],
  { key, evidence, by }: { key: KeyObject; evidence: Evidence; by: string },
): Uint8Array {
  const manifest = json({
    format: 'carillon-evidence-1',
    number: evidence.e164,
    madeAt: new Date(evidence.madeAt).toISOString(),
    madeBy: by,
    since: evidence.sinceAt === null ? null : new Date(evidence.sinceAt).toISOString(),
    ledger: evidence.ledgerId,
    timeZoneData: zoneDataRelease,
    key: publicText(key),
    files: Object.fromEntries(
      files.map(([name, bytes]) => [name, { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }]),
    ),
  });
  const signature = sign(null, manifest, key).toString('base64');
  return archiveOf([...files, ['manifest.json', manifest], ['manifest.sig', text(signature)]]);
}

/** Deterministic archive: uncompressed, without times. `check.mjs` rebuilds it, so any changed byte shows. */
function archiveOf(files: readonly [string, Uint8Array][]): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, bytes] of files) {
    const title = text(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(utf8Names, 2);
    facts.writeUInt16LE(firstDay, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(title.length, 22);
    parts.push(Buffer.from('PK\u0003\u0004'), facts, title, bytes);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000'), facts, place, title);
    offset += 30 + title.length + bytes.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, end]);
}

const utf8Names = 0x0800;
/** 1980-01-01, the earliest ZIP date. */
const firstDay = 0x21;

function json(value: object): Buffer {
  return text(`${JSON.stringify(withInstants(value), null, 2)}\n`);
}

function text(written: string): Buffer {
  return Buffer.from(written, 'utf8');
}
