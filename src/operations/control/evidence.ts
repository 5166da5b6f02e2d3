import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { appendEvents } from '../../ledger/events.ts';
import { readEvidence } from '../../ledger/read/evidence.ts';
import { accountScope } from '../../ledger/rows/suppressions.ts';
import type { Bundle, BundleRequest, ConversationFile } from '../../presentation/evidence/bundle.ts';
import { renderTranscript } from '../../presentation/words/history.ts';
import { foreseen } from '../../shared/input/errors.ts';
import { openRecording, readCallRecord } from './call-record.ts';
import type { Control } from './control.ts';

/** The program that checks a bundle; each contains a copy. */
export const checkerPath = fileURLToPath(new URL('../../presentation/evidence/check.mjs', import.meta.url));

/** Thrown when neither a list nor the do-not-call list has the number. */
export class NoEvidenceError extends foreseen('NoEvidenceError', true) {}

/** Adds transcripts and recordings that the service still has. */
export interface EvidenceRequest extends BundleRequest {
  withConversations: boolean;
}

/**
 * All data of one number, signed; logged in each campaign with the number. `make`: default is background work. Throws NoEvidenceError, and
 * as reading conversations when the service is unusable.
 */
export async function makeEvidence(
  control: Control,
  { withConversations, ...request }: EvidenceRequest,
  make: (request: BundleRequest, conversations: readonly ConversationFile[]) => Promise<Bundle | null> = (input, conversations) =>
    control.aside.work('evidence', input, conversations),
): Promise<Bundle> {
  const conversations = withConversations ? await readConversations(control, request) : [];
  const bundle = await make(request, conversations);
  if (bundle === null) throw new NoEvidenceError('No list has this number, and neither has the do-not-call list.');
  await noteExport(control, request, { rows: bundle.rows, withConversations });
  return bundle;
}

async function noteExport(
  { store }: Control,
  request: BundleRequest,
  { rows, withConversations }: Pick<Bundle, 'rows'> & { withConversations: boolean },
): Promise<void> {
  const action = withConversations ? 'evidence_exported_with_conversations' : 'evidence_exported';
  const event = { at: request.now, type: 'operator.acted' as const, data: { name: request.by, action } };
  const ofRows = rows.map(({ campaignId, recipientId }) => ({ ...event, campaignId, recipientId }));
  await store.transaction((tx) => appendEvents(tx, ofRows.length > 0 ? ofRows : [{ ...event, campaignId: accountScope }]));
}

/** Transcript and recording of each call, or why one is missing. */
async function readConversations(control: Control, request: BundleRequest): Promise<ConversationFile[]> {
  const files: ConversationFile[] = [];
  const evidence = await readEvidence(control.store, request);
  for (const { campaignId, row, calls } of evidence?.rows ?? [])
    for (const { call, record } of calls) {
      if (record === null) continue;
      const [named, name] = [{ campaignId, row, call }, `${campaignId}-row-${row}-call-${call}`];
      // Reads once, since the service counts rapid repeated reads.
      const read = await orWhy(() => readCallRecord(control, named));
      if ('why' in read) {
        files.push({ name: `${name}.txt`, bytes: Buffer.from(read.why) });
        continue;
      }
      files.push({ name: `${name}.txt`, bytes: Buffer.from(renderTranscript(row, read.value.record)) });
      const sound = await orWhy(async () => buffer((await openRecording(control, { ...named, known: read.value })).body));
      if ('why' in sound) files.push({ name: `${name}-recording.txt`, bytes: Buffer.from(sound.why) });
      else files.push({ name: `${name}.audio`, bytes: sound.value });
    }
  return files;
}

async function orWhy<Value>(read: () => Promise<Value>): Promise<{ value: Value } | { why: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (!(error instanceof Error) || !('isBadInput' in error)) throw error;
    return { why: `Not part of this bundle: ${error.message}\n` };
  }
}
