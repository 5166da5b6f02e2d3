import type { Command } from 'commander';
import { connected, withControl } from '../../../operations/control/control.ts';
import { capital } from '../../../shared/input/figures.ts';
import { readBeforeSteering } from '../../../operations/control/steer.ts';
import type { Plain } from '../../../operations/operation.ts';
import { plainOperations, type PlainId } from '../../../operations/steering.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, writeAnswer, RowProgress } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';
import { pauseLines, queuedWords } from '../../../presentation/words/campaign.ts';
import { withoutUndefined } from '../../../rules/collections.ts';
import { handlingOfQueued, type QueuedHandling } from '../../../rules/service-api.ts';

const confirmationHelp = '\nThis cannot be undone. The command asks for confirmation; without a terminal it needs --yes.';

/** With the texts of the operation. */
export function plainCommand(id: PlainId): (io: Io) => Command {
  const { action: name, says, more, plain } = plainOperations[id];
  const { ends, done, next, help, choice }: Plain = plain;
  return commandOf<{ letQueued?: boolean; sample?: boolean }>({
    name,
    argument: ['<campaign>', 'id of the campaign'],
    changes: true,
    ...(ends && { asks: true }),
    ...(choice && { flags: [[choice.flag, choice.says]] }),
    help: `${help}${ends ? confirmationHelp : ''}`,
    examples: [`carillon ${name} reminders`, ...(ends ? [`carillon ${name} reminders --yes`] : [])],
    run: (io, { yes, json, key, letQueued, sample }, campaignId) =>
      withControl(io, async (control) => {
        let isTold = false;
        const printResult = (
          result: Pick<Campaign, 'stateReason' | 'round'> & { state: string; queued?: QueuedHandling | undefined },
        ): void => {
          isTold = true;
          const { state, stateReason, round } = result;
          // If queued calls can never be taken back, they are reported only with --let-queued.
          const queued = result.queued === 'never_taken_back' && !letQueued ? undefined : result.queued;
          const data = { campaignId, state, stateReason, round, ...withoutUndefined({ queued }) };
          const besides = queued === undefined ? '' : ` ${queuedWords[queued]}`;
          writeAnswer(io, json, { data, words: `Campaign ${campaignId} ${done}.${besides} ${next} ${campaignId}\n` });
        };
        const onCommitted = (campaign: Campaign) =>
          printResult({ ...campaign, ...(choice?.field === 'letQueued' && { queued: handlingOfQueued(campaign) }) });
        const current = ends && !yes ? await readBeforeSteering(control, campaignId, name) : null;
        const seen = current && { round: current.campaign.round, pausesSeen: current.pausesSeen };
        const body = { ...seen, ...withoutUndefined({ letQueued, sample }) };
        const question = `${capital(name)} campaign ${campaignId}? ${says}. ${more}`;
        if (ends && !(await mayBegin(io, yes, question))) return null;
        const answer = await performHere({ ...control, onCommitted }, id, { params: { campaign: campaignId }, body, key });
        if (!isTold) printResult(answer);
        if (answer.notice !== null)
          io.stderr.write(`The ${name} is committed, but the workflow could not be notified (see carillon status).\n`);
        return null;
      }),
  });
}

const recoverHelp = `
For a campaign whose workflow Temporal has lost, while the database was kept. Restarts the workflow; the ledger says what was sent, and
none of it is sent again. A paused campaign stays paused.

Before, the service's lists of conversations and batches are read to their end. If they show calls that the database does not know, the
database was probably set back, and nothing is started: going on would call those people twice. The same applies if the list cannot be read. A
campaign whose workflow runs, or that has ended, is refused.`;

export const recoverCommand = commandOf({
  name: 'recover',
  argument: ['<campaign>', 'id of the campaign'],
  help: recoverHelp,
  changes: true,
  examples: ['carillon recover reminders'],
  run: (io, { json, key }, campaignId) =>
    withControl(io, async (control) => {
      const progress = new RowProgress(io, 'read', "entries of the service's lists");
      const onProgress = (entries: number): void => progress.update(entries);
      const recovering = performHere({ ...control, onProgress }, 'recoverCampaign', { params: { campaign: campaignId }, key });
      const data = await recovering.finally(() => progress.clear());
      writeAnswer(io, json, { data, words: `Campaign ${campaignId} has been restarted from the database, round ${data.round}.\n` });
      if (json) return null;
      const campaign = await requireCampaign(control.store, campaignId);
      const ways = await superviseCampaign(await connected(control), campaignId);
      io.stderr.write([...pauseLines(campaign), ...ways, `Show its progress: carillon status ${campaignId}`, ''].join('\n'));
      return null;
    }),
});
