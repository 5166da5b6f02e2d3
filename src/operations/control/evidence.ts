import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { appendEvents } from '../../ledger/events.ts';
import { readEvidence } from '../../ledger/read/evidence.ts';
import { accountScope } from '../../ledger/rows/suppressions.ts';
import type { Bundle, BundleWish, ConversationFile } from '../../presentation/evidence/bundle.ts';
import { renderTranscript } from '../../presentation/words/history.ts';
import { foreseen } from '../../shared/input/errors.ts';
import { openRecording, readCallRecord } from './call-record.ts';
import type { Control } from './control.ts';

/** The program that checks a bundle; a copy of it stands in each. */
export const checkerPath = fileURLToPath(new URL('../../presentation/evidence/check.mjs', import.meta.url));

/** Thrown when no list and no do-not-call entry has the number. */
export class NoEvidenceError extends foreseen('NoEvidenceError', true) {}

/** What is asked for. `withConversations`: what was said and its recordings, as far as the service still has them. */
export interface EvidenceWish extends BundleWish {
  withConversations: boolean;
}

/**
 * Everything that the database has of one number, signed; the log tells who asked for it, in each campaign that has the number. `make`: how
 * it is made where somebody waits. Throws NoEvidenceError, and what reading conversations throws when the service cannot be used at all.
 */
export async function makeEvidence(
  control: Control,
  { withConversations, ...wish }: EvidenceWish,
  make: (wish: BundleWish, conversations: readonly ConversationFile[]) => Promise<Bundle | null> = (asked, conversations) =>
    control.aside.work('evidence', asked, conversations),
): Promise<Bundle> {
  const conversations = withConversations ? await readConversations(control, wish) : [];
  const bundle = await make(wish, conversations);
  if (bundle === null) throw new NoEvidenceError('No list has this number, and neither has the do-not-call list.');
  await noteExport(control, wish, { rows: bundle.rows, withConversations });
  return bundle;
}

async function noteExport(
  { store }: Control,
  wish: BundleWish,
  { rows, withConversations }: Pick<Bundle, 'rows'> & { withConversations: boolean },
): Promise<void> {
  const action = withConversations ? 'evidence_exported_with_conversations' : 'evidence_exported';
  const told = { at: wish.now, type: 'operator.acted' as const, data: { name: wish.by, action } };
  const ofRows = rows.map(({ campaignId, recipientId }) => ({ ...told, campaignId, recipientId }));
  await store.transaction((tx) => appendEvents(tx, ofRows.length > 0 ? ofRows : [{ ...told, campaignId: accountScope }]));
}

/** What was said in each call, and its recording. What cannot be had is told in its place. */
async function readConversations(control: Control, wish: BundleWish): Promise<ConversationFile[]> {
  const files: ConversationFile[] = [];
  const evidence = await readEvidence(control.store, wish);
  for (const { campaignId, row, calls } of evidence?.rows ?? [])
    for (const { call, record } of calls) {
      if (record === null) continue;
      const [named, name] = [{ campaignId, row, call }, `${campaignId}-row-${row}-call-${call}`];
      // The service is asked once: it counts who reads the same again at once.
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
