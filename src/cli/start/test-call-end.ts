import type { Config } from '../../config.ts';
import type { ConversationRecord } from '../../convai/schemas-responses.ts';
import { hasEnded } from '../../domain/lifecycle.ts';
import type { Store } from '../../ledger/open-ledger.ts';
import { readResults, type RecipientResult } from '../../ledger/read/result-rows.ts';
import { keepServiceClock } from '../../temporal/clock-keeper.ts';
import { CampaignReader, type Snapshot } from '../access/campaign-snapshot.ts';
import { createCampaignView, type CampaignView } from '../access/campaign-view.ts';
import { describeFailure } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson } from '../terminal/json-output.ts';
import { printable } from '../terminal/printable.ts';
import { explainServiceFault, openService } from '../access/service.ts';
import { superviseCampaign } from '../access/supervision.ts';
import type { TemporalAccess } from '../access/temporal.ts';
import { renderTranscript } from '../words/transcript.ts';
import { watchCampaign } from '../access/watch-campaign.ts';

export interface FollowedTestCall {
  config: Config;
  store: Store;
  temporal: TemporalAccess;
  campaignId: string;
  json: boolean;
}

/** Shows a test call until its end, then what came of it. Sets the exit code to 1 unless it was placed and its end is known. */
export async function followTestCall(io: Io, call: FollowedTestCall): Promise<void> {
  const { campaign } = await watch(io, call);
  const { campaignId } = campaign;
  if (!hasEnded(campaign)) {
    const why =
      campaign.state === 'paused'
        ? `paused: ${printable(campaign.stateReason ?? 'no reason is on record')}`
        : 'not at its end';
    io.stderr.write(`The test call is ${why}\n`);
    io.stderr.write(
      campaign.state === 'paused'
        ? `Look at it: carillon status ${campaignId}   Go on: carillon resume ${campaignId}   End it: carillon cancel ${campaignId}\n`
        : `Look at it: carillon status ${campaignId}   End it: carillon cancel ${campaignId}\n`,
    );
    io.exitCode = 1;
    return;
  }
  for await (const result of readResults(call.store.db, campaignId)) {
    const record = await readRecord(io, call.config, result.conversationId);
    if (call.json) writeJson(io, asJson(campaignId, result, record));
    else io.stdout.write(renderEnd(campaignId, result, record));
    if (result.disposition === null || result.outcome === 'unresolved') io.exitCode = 1;
  }
}

async function watch(io: Io, { config, store, temporal, campaignId }: FollowedTestCall): Promise<Snapshot> {
  const leaving = new AbortController();
  const takeBack = io.onInterrupt(() => leaving.abort());
  const clock = keepServiceClock(config.SVC_BASE_URL);
  const reader = new CampaignReader({ store, campaignId, clock, now: Date.now, fromSeq: 0 });
  // One call needs no bar: what happens is told line by line.
  const lines = createCampaignView({ ...io, isTerminal: false }, io.stderr, '');
  const view: CampaignView = {
    show(snapshot, notices) {
      lines.show(snapshot, notices);
      // Whoever paused it, it was not this command, and it may stay so for ever.
      if (snapshot.campaign.state === 'paused') leaving.abort();
    },
    close: () => lines.close(),
  };
  const supervise = (): Promise<string[]> => superviseCampaign({ config, store, temporal, campaignId });
  try {
    return await watchCampaign({ reader, view, leave: leaving.signal, supervise });
  } finally {
    view.close();
    takeBack();
  }
}

/** The conversation as the service has it; null when there is none, or it is not to be had. */
async function readRecord(io: Io, config: Config, conversationId: string | null): Promise<ConversationRecord | null> {
  if (conversationId === null) return null;
  const client = openService(config);
  try {
    return await client.getConversation(conversationId);
  } catch (error) {
    io.stderr.write(`${describeFailure(explainServiceFault(config, error), false).message}\n`);
    return null;
  } finally {
    await client.close();
  }
}

function renderEnd(campaignId: string, result: RecipientResult, record: ConversationRecord | null): string {
  const { outcome, disposition, detail, reason } = result;
  const call = disposition === null ? 'was not placed' : `${disposition}${detail === null ? '' : ` (${detail})`}`;
  const lines = [
    '',
    `Test call     ${campaignId}`,
    printable(`Call          ${call}`),
    printable(`Outcome       ${outcome}${reason === null ? '' : ` (${reason})`}`),
    record === null ? '\n(the service shows no conversation of it)\n' : renderTranscript(result.row, record),
    ...(outcome === 'opted_out'
      ? ['The number is on the do-not-call list now; carillon suppress remove takes it off.\n']
      : []),
  ];
  return lines.join('\n');
}

function asJson(campaignId: string, result: RecipientResult, record: ConversationRecord | null): object {
  const { row, outcome, reason, disposition, detail, conversationId, durationMs, collected, evaluation } = result;
  const transcript = record?.transcript ?? null;
  return {
    campaignId,
    row,
    outcome,
    reason,
    disposition,
    detail,
    conversationId,
    durationMs,
    collected,
    evaluation,
    transcript,
  };
}
