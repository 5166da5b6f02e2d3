import { readCallRecord, type NamedCall } from '../../control/call-record.ts';
import type { Token } from '../../ledger/desk/tokens.ts';
import type { ApiContext } from './context.ts';
import { noteShown } from './shown-numbers.ts';

/** What was said in a call, read from the service for `holder`, as the log tells. Throws as `readCallRecord`, before the log is told. */
export async function showTranscript(context: ApiContext, holder: Token, named: NamedCall) {
  const { ids, record } = await readCallRecord(context, named);
  await noteShown(context, holder, { ...ids, action: 'transcript_shown' });
  const { conversationId, startedAt, durationMs, callResult, audio } = record.facts;
  return {
    ...named,
    campaignId: ids.campaignId,
    conversationId,
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    durationMs,
    callResult,
    isRecorded: audio !== null,
    turns: [...record.turns],
  };
}
