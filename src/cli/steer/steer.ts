import { Command } from 'commander';
import type { Wish } from '../../control/campaign-message.ts';
import { withControl } from '../../control/control.ts';
import { lookBeforeWish, pause, steer } from '../../control/steer.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeAnswer } from '../terminal/json-output.ts';

interface Steering {
  description: string;
  help: string;
  /** Asked first, of what ends a campaign. */
  question?: (campaignId: string) => string;
  /** What has become of the campaign. */
  done: (campaignId: string) => string;
}

const steerings: Readonly<Record<Wish, Steering>> = {
  pause: {
    description: 'Place no further calls; open ones are still collected',
    help: `
Returns when the pause is committed. No call is placed after that, except a batch that was on its way to the service at that
moment. Open calls continue, and their results are collected. Needs only the database; Temporal, worker and service may be down.

Example:
  carillon pause reminders`,
    done: (id) => `is paused. Resume it: carillon resume ${id}`,
  },
  resume: {
    description: 'Continue a paused campaign',
    help: `
If the campaign paused by itself, carillon status shows the reason. Fix it first, or the campaign pauses again.

Example:
  carillon resume reminders`,
    done: (id) => `is running again. Show its progress: carillon status ${id}`,
  },
  drain: {
    description: 'Finish open calls, call no waiting recipients, and complete the campaign',
    help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. The campaign
then ends as completed; to end it as cancelled, use carillon cancel. This cannot be undone. The command asks for confirmation; without
a terminal it needs --yes.

Examples:
  carillon drain reminders
  carillon drain reminders --yes`,
    question: (id) => `Drain campaign ${id}? Waiting recipients will not be called. This cannot be undone.`,
    done: (id) =>
      `is draining: no further dials; it completes when the open calls are collected. Show its progress: carillon status ${id}`,
  },
  cancel: {
    description: 'End a campaign; waiting recipients are not called',
    help: `
Waiting recipients get the outcome "cancelled" and are not called. Open calls continue, and their results are collected. This cannot
be undone. The command asks for confirmation; without a terminal it needs --yes.

Examples:
  carillon cancel reminders
  carillon cancel reminders --yes`,
    question: (id) => `End campaign ${id}? Waiting recipients will not be called. This cannot be undone.`,
    done: (id) =>
      `is being cancelled: no further dials; calls that are open are still collected. Show its progress: carillon status ${id}`,
  },
};

/** `carillon pause`, `resume`, `drain` and `cancel`. */
export function steerCommand(wish: Wish): (io: Io) => Command {
  const { description, help, question, done } = steerings[wish];
  return (io) => {
    const command = new Command(wish).description(description).argument('<campaign>', 'id of the campaign');
    if (question !== undefined) command.option('-y, --yes', 'do not ask for confirmation', false);
    return command
      .option('--json', 'print JSON', false)
      .addHelpText('after', help)
      .action(async (campaignId: string, { yes = false, json }: { yes?: boolean; json: boolean }) => {
        const tell = ({ state, stateReason, round }: Campaign): void => {
          const data = { campaignId, state, stateReason, round };
          writeAnswer(io, json, { data, words: `Campaign ${campaignId} ${done(campaignId)}\n` });
        };
        await withControl(io, async (control) => {
          if (wish === 'pause') {
            const { notice } = await pause(control, { campaignId, onCommitted: tell });
            if (!notice.told) io.stderr.write(pauseUntold);
            return;
          }
          const { campaign, pausesSeen } = await lookBeforeWish(control, campaignId, wish);
          if (question !== undefined && !(await mayBegin(io, yes, question(campaignId)))) return;
          tell(await steer(control, { campaignId, wish, pausesSeen, round: campaign.round }));
        });
      });
  };
}

const pauseUntold = 'The pause is committed, but the workflow could not be notified (see carillon status).\n';
