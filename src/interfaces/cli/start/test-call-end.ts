import type { Config } from '../../../shared/config.ts';
import type { ServiceRecord } from '../../../service/port/call-service.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { readResults, type RecipientResult } from '../../../ledger/read/result-rows.ts';
import { keepServiceClock } from '../../../temporal/clock-keeper.ts';
import { createCampaignView } from '../access/campaign-view.ts';
import { describeFailure } from '../terminal/failure.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { writeAnswer } from '../terminal/json-output.ts';
import { printable } from '../../../shared/input/printable.ts';
import { withService } from '../../../operations/control/service.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';
import type { Session } from '../../../operations/control/temporal.ts';
import { renderTranscript } from '../../../presentation/words/transcript.ts';
import { watchCampaign, type CampaignView, type Snapshot } from '../access/watch-campaign.ts';

/** Shows a test call until its end, then what came of it. Sets the exit code to 1 unless it was placed and its end is known. */
export async function followTestCall(io: Io, session: Session, { campaignId, json }: { campaignId: string; json: boolean }): Promise<void> {
  const { campaign } = await watch(io, session, campaignId);
  if (!hasEnded(campaign)) {
    const isPaused = campaign.state === 'paused';
    const why = isPaused ? `paused: ${printable(campaign.stateReason ?? 'no reason is on record')}` : 'still in progress';
    const goOn = isPaused ? `   Resume it: carillon resume ${campaignId}` : '';
    io.stderr.write(
      `The test call is ${why}\nShow its progress: carillon status ${campaignId}${goOn}   End it: carillon cancel ${campaignId}\n`,
    );
    io.exitCode = 1;
    return;
  }
  for await (const result of readResults(session.store.db, campaignId)) {
    const record = await readRecord(io, session.config, result.conversationId);
    writeAnswer(io, json, {
      data: asJson(campaignId, result, record),
      words: renderEnd(campaignId, result, record),
    });
    if (result.disposition === null || result.outcome === 'unresolved') io.exitCode = 1;
  }
}

async function watch(io: Io, session: Session, campaignId: string): Promise<Snapshot> {
  const { config, store } = session;
  // One call needs no bar: what happens is told line by line.
  const lines = createCampaignView({ ...io, isTerminal: false }, io.stderr, '');
  return untilInterrupted(io, (leaving) => {
    const show: CampaignView['show'] = (snapshot, notices) => {
      lines.show(snapshot, notices);
      // Whoever paused it, it was not this command, and it may stay so for ever.
      if (snapshot.campaign.state === 'paused') leaving.abort();
    };
    return watchCampaign({
      store,
      campaignId,
      clock: keepServiceClock(config.SVC_BASE_URL),
      fromSeq: 0,
      view: { show },
      leave: leaving.signal,
      supervise: () => superviseCampaign(session, campaignId),
    });
  });
}

/** The service's conversation record; null when it is missing or cannot be read. */
async function readRecord(io: Io, config: Config, conversationId: string | null): Promise<ServiceRecord | null> {
  if (conversationId === null) return null;
  return withService(config, (service) => service.record(conversationId)).catch((error: unknown) => {
    io.stderr.write(`${describeFailure(error, false).message}\n`);
    return null;
  });
}

function renderEnd(campaignId: string, result: RecipientResult, record: ServiceRecord | null): string {
  const { outcome, disposition, detail, reason } = result;
  const call = disposition === null ? 'was not placed' : `${disposition}${detail === null ? '' : ` (${detail})`}`;
  const lines = [
    '',
    `Test call     ${campaignId}`,
    printable(`Call          ${call}`),
    printable(`Outcome       ${outcome}${reason === null ? '' : ` (${reason})`}`),
    record === null ? '\n(the service shows no conversation of it)\n' : renderTranscript(result.row, record),
    ...(outcome === 'opted_out' ? ['The number is on the do-not-call list now; carillon suppress remove takes it off.\n'] : []),
  ];
  return lines.join('\n');
}

function asJson(campaignId: string, result: RecipientResult, record: ServiceRecord | null): object {
  const { row, outcome, reason, disposition, detail, conversationId, durationMs, collected, evaluation } = result;
  const call = { disposition, detail, conversationId, durationMs, collected, evaluation };
  return { campaignId, row, outcome, reason, ...call, transcript: record?.document['transcript'] ?? null };
}
