import { Command, Option } from 'commander';
import { readConfig, type Config } from '../config.ts';
import type { ServiceClock } from '../convai/service-clock.ts';
import { hasEnded } from '../domain/lifecycle.ts';
import { findCampaign, type Campaign } from '../store/campaigns.ts';
import { giveUpOpen } from '../store/give-up-open.ts';
import type { Store } from '../store/open-store.ts';
import { resolveUnresolved, type Resolution } from '../store/resolve.ts';
import { requireService, startCampaign } from '../temporal/start-campaign.ts';
import { sendUpdate } from './campaign-message.ts';
import type { Io } from './io.ts';
import { mayBegin } from './irreversible.ts';
import { openExistingLedger, requireCampaign } from './ledger-access.ts';
import { processInput, type PersonInput } from './person-input.ts';
import { plural, span } from './printable.ts';
import { readClock } from './service-access.ts';
import { openTemporal, type TemporalAccess } from './temporal-access.ts';

const examples = `
A recipient is unresolved when the answer to a batch was lost (a timeout, a cut connection, an error of the service) and the
service's records show no trace of its call. Carillon never calls such a recipient again by itself; you decide for all of a
campaign. To be sure, look into the service's own call history first.

  --redial    they wait again and are dialled. If the lost batch was carried out after all, they are called twice.
  --give-up   they keep the outcome "unresolved".

Redialling after the campaign's end starts its next round; it is refused while the campaign drains, and once its ends_at has
passed. Batches that something may still be heard of are left alone.

  --give-up --open   calls whose end can no longer be learnt, because the service has not let its records be read for an hour
                     (the agent was deleted there, the key was withdrawn): they become "unresolved" too, so that the
                     campaign can end.

Examples:
  carillon resolve reminders --redial
  carillon resolve reminders --redial --yes
  carillon resolve reminders --give-up
  carillon resolve reminders --give-up --open`;

export interface ResolveOptions {
  campaignId: string;
  decision: 'redial' | 'give_up';
  /** Give up open calls as well. */
  open: boolean;
  yes: boolean;
}

/** Thrown when neither or both of the decisions are given. */
class DecisionError extends Error {
  override readonly name = 'DecisionError' as const;
  readonly exitCode = 2;
}

export function resolveCommand(io: Io, input: PersonInput = processInput()): Command {
  return new Command('resolve')
    .description('Decide on calls of which nobody knows whether they were placed')
    .argument('<campaign>', 'id of the campaign')
    .addOption(new Option('--redial', 'dial them again').conflicts('giveUp'))
    .option('--give-up', 'leave them as they are')
    .option('--open', 'with --give-up: open calls, too, that the service can no longer be asked about', false)
    .option('-y, --yes', 'do not ask; needed for --redial where nobody can be asked', false)
    .addHelpText('after', examples)
    .action(async (campaignId: string, flags: { redial?: boolean; giveUp?: boolean; open: boolean; yes: boolean }) => {
      if (flags.redial !== true && flags.giveUp !== true)
        throw new DecisionError('Say which: carillon resolve <campaign> --redial, or --give-up. --help explains both.');
      const decision = flags.redial === true ? 'redial' : 'give_up';
      if (flags.open && decision === 'redial')
        throw new DecisionError(
          '--open goes with --give-up only: a call that may still be under way is never redialled.',
        );
      await runResolve(io, input, { campaignId, decision, open: flags.open, yes: flags.yes });
    });
}

const answerLimitMs = 20_000;

async function runResolve(io: Io, input: PersonInput, options: ResolveOptions): Promise<void> {
  const config = readConfig(io.env);
  const store = await openExistingLedger(config);
  let temporal: TemporalAccess | null = null;
  try {
    const campaign = await requireCampaign(store, options.campaignId);
    if (options.decision === 'redial') requireService(config, campaign);
    const clock = await readClock(config);
    if (options.decision === 'redial') {
      const risk =
        'If a lost batch was carried out after all, its people are called twice: nothing on record can rule that out.';
      io.stderr.write(`${risk}\n`);
      if (!(await mayBegin(io, input, options.yes, `Dial the unresolved recipients of ${options.campaignId} again?`)))
        return;
      // Connected before the decision is written, so that what it sets going can go.
      temporal = await openTemporal(io, config);
    }
    const now = Math.round(clock.now());
    const given = options.open ? await giveUpOpenCalls(io, { store, campaign, now, clock }) : 0;
    if (given === null) return;
    const resolution = await resolveUnresolved(store, options.campaignId, options.decision, now);
    const going = temporal === null ? '' : await setGoing({ config, store, temporal, clock }, campaign);
    io.stdout.write(tellResolution(options, resolution, clock, { going, given }));
  } finally {
    await temporal?.connection.close();
    await store.close();
  }
}

/** Answers how many calls; null when the service still tells about its calls, so that nothing is given up. */
async function giveUpOpenCalls(
  io: Io,
  { store, campaign, now, clock }: { store: Store; campaign: Campaign; now: number; clock: ServiceClock },
): Promise<number | null> {
  const given = await giveUpOpen(store, campaign.campaignId, campaign.rules.agentId, now);
  if (given.kind === 'given_up') {
    io.stdout.write(`${plural(given.calls, 'open call')} of campaign ${campaign.campaignId} given up.\n`);
    return given.calls;
  }
  const ago = span(clock.toRealMs(now - given.since));
  io.stderr.write(
    `Nothing was given up: a call was placed or the service's records were read ${ago} ago, so results may still come. Open calls can be given up once the records could not be read for an hour.\n`,
  );
  io.exitCode = 1;
  return null;
}

/** Makes the redialled recipients move: the next round of an ended campaign, or a new look of a running one. */
async function setGoing(
  deps: { config: Config; store: Store; temporal: TemporalAccess; clock: ServiceClock },
  before: Campaign,
): Promise<string> {
  const { config, store, temporal } = deps;
  const id = before.campaignId;
  const campaign = (await findCampaign(store.db, id)) ?? before;
  if (hasEnded(campaign)) {
    const now = Math.round(deps.clock.now());
    const started = await startCampaign({ config, store, client: temporal.client, now }, id);
    return started === undefined ? '' : ` Round ${started.round.round} has been started: carillon status ${id}`;
  }
  if (campaign.state === 'paused') return ` The campaign is paused: carillon resume ${id} sets it going.`;
  // A running campaign is told to go on, which changes nothing but makes it look again at who waits.
  if (campaign.state === 'running') {
    const { ledgerId } = store;
    await sendUpdate(config, temporal, { campaign, wish: 'resume', ledgerId, limitMs: answerLimitMs });
  }
  return '';
}

function tellResolution(
  { campaignId, decision }: ResolveOptions,
  { recipients, tooEarly, decidableAt }: Resolution,
  clock: ServiceClock,
  { going, given }: { going: string; given: number },
): string {
  const lines: string[] = [];
  if (recipients > 0) {
    const what = decision === 'redial' ? 'will be dialled again' : 'stay unresolved; the decision is on record';
    lines.push(`${plural(recipients, 'recipient')} of campaign ${campaignId} ${what}.${going}`);
  } else if (given === 0) {
    lines.push(`No recipient of campaign ${campaignId} is unresolved${tooEarly > 0 ? ' yet' : ''}.${going}`);
  }
  if (tooEarly > 0) {
    const until =
      decidableAt === null
        ? 'soon'
        : `after ${new Date(decidableAt).toISOString()} (in ${span(clock.toRealMs(decidableAt - clock.now()))})`;
    lines.push(
      `${plural(tooEarly, 'batch', 'batches')} cannot be decided about yet: the service may still be heard of. Try again ${until}.`,
    );
  }
  return lines.map((line) => `${line}\n`).join('');
}
