import type { z } from 'zod';
import { readCallRecord, type NamedCall } from '../../control/call-record.ts';
import { factsFromRecord } from '../../convai/record-facts.ts';
import type { Token } from '../../ledger/desk/tokens.ts';
import { readTurns } from '../../words/transcript.ts';
import { withInstants } from '../../input/with-instants.ts';
import type { transcript } from '../schemas/calls.ts';
import type { ApiContext } from './context.ts';
import { noteShown } from './shown-numbers.ts';

/** What was said in a call, read from the service for `holder`, as the log tells. Throws as `readCallRecord`, before the log is told. */
export async function showTranscript(
  context: ApiContext,
  holder: Token,
  named: NamedCall,
): Promise<z.input<typeof transcript>> {
  const { ids, record } = await readCallRecord(context, named);
  await noteShown(context, holder, { ...ids, action: 'transcript_shown' });
  const { startedAt, durationMs, callResult } = factsFromRecord(record);
  const { conversation_id: conversationId, audio } = record;
  const { campaignId } = ids;
  const told = { ...named, campaignId, conversationId, startedAt, durationMs, callResult };
  const isRecorded = audio != null && audio !== '';
  return { ...(withInstants(told) as object), isRecorded, turns: readTurns(record) } as z.input<typeof transcript>;
}
