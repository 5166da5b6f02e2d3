import type { ServiceClock } from '../../../service/port/service-clock.ts';
import { listCampaigns, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { readStatus, type CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { readCampaignView, type CampaignView } from '../../../ledger/read/campaign-view.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { commandOf, type CommandOutput } from '../terminal/command.ts';
import {
  apiText,
  callerUseLines,
  campaignTitle,
  dispositionCounts,
  resultCounts,
  outcomeCounts,
  stateText,
  statusAsJson,
  viewAsJson,
  pacingLines,
  pilotText,
} from '../../../presentation/words/campaign.ts';
import { callbackCounts } from '../../../presentation/words/callbacks.ts';
import { apartText, unresolvedLines } from '../../../presentation/words/needs.ts';
import { hookLines } from '../../../presentation/words/hooks.ts';
import type { Io } from '../terminal/io.ts';
import { withCampaign, withControl, type OpenCampaign } from '../../../operations/control/control.ts';
import type { Store } from '../../../ledger/tx.ts';
import { count, plural, span } from '../../../shared/input/figures.ts';
import { readClockOrReal } from '../../../operations/control/service.ts';
import { readingOf, workflowAsJson, workflowText, type Why } from '../../../presentation/words/why.ts';
import { askWorkflow } from '../../../operations/control/supervision.ts';
import { readWhy } from '../../../operations/control/why.ts';

/** Temporal and the service are optional here: wait no longer. */
const limitMs = 2_000;

const examples = `
Reads the database, and asks the workflow as well if Temporal answers within ${limitMs / 1000} s.

Examples:
  carillon status                     all campaigns of the database
  carillon status reminders           one campaign
  carillon status reminders --json    as JSON`;

export const statusCommand = commandOf<object, string | undefined>({
  name: 'status',
  says: 'Show the progress of a campaign, or list all campaigns',
  argument: ['[campaign]', 'id of the campaign (default: list all)'],
  help: examples,
  run: (io, _, campaignId) =>
    campaignId === undefined ? withControl(io, ({ store }) => listAll(store)) : withCampaign(io, campaignId, (open) => showOne(io, open)),
});

async function listAll({ db }: Store): Promise<CommandOutput> {
  const rows: { campaign: Campaign; status: CampaignStatus }[] = [];
  for (const campaign of await listCampaigns(db)) rows.push({ campaign, status: await readStatus(db, campaign) });
  const width = Math.max(8, ...rows.map(({ campaign }) => campaign.campaignId.length));
  const stateWidth = Math.max(8, ...rows.map(({ campaign }) => stateText(campaign).length));
  const lines = rows.map(({ campaign, status }) => {
    const progress = `${count(status.done)} of ${count(status.total)} done, ${plural(status.open, 'call')} open`;
    const api = apiText(campaign);
    const by = api === null ? '' : `, through ${api}`;
    return `${campaign.campaignId.padEnd(width)}  ${stateText(campaign).padEnd(stateWidth)}  ${progress}${by}\n`;
  });
  const data = withInstants({ campaigns: rows.map(({ campaign, status }) => statusAsJson(campaign, status)) });
  const aside = rows.length === 0 ? 'There is no campaign yet: carillon start <campaign.yaml> makes one.\n' : '';
  return { data, words: lines.join(''), aside };
}

async function showOne(io: Io, open: OpenCampaign): Promise<CommandOutput> {
  const { config, store, campaign } = open;
  const clock = await readClockOrReal(config, limitMs, () => io.now());
  const view = await readCampaignView(store.db, campaign, Math.round(clock.now()));
  const why = await readWhy(open, clock);
  const { look = null } = why;
  const counters = await askWorkflow(open, look);
  const at = { clock, now: io.now() };
  return {
    data: withInstants({ ...viewAsJson(view, why, at), ...workflowAsJson(look, counters) }),
    words: `${describe(view, { why, counters }, at).join('\n')}\n`,
  };
}

function describe(
  view: CampaignView,
  { why, counters }: { why: Why; counters: Awaited<ReturnType<typeof askWorkflow>> },
  { clock, now }: { clock: ServiceClock; now: number },
): string[] {
  const { campaign, status, limits, callers, hooks, doubt, clocksApartMs } = view;
  const undecided = (status.batches['unknown'] ?? 0) + (status.batches['posting'] ?? 0);
  const reading = readingOf(why, { clock, now, atCommandLine: true });
  const line = (label: string, text: string): string[] => (text === '' ? [] : [`${label.padEnd(10)}${text}`]);
  const waitMs = status.nextDueAt === null ? 0 : clock.atReal(status.nextDueAt) - now;
  const due = waitMs > 1_000 ? ` (the next is due in ${span(waitMs)})` : '';
  const planned = status.planned === 0 ? '' : `${count(status.planned)} planned and not sent, `;
  return [
    ...line('Campaign', campaignTitle(campaign)),
    ...line('Interface', apiText(campaign) ?? ''),
    ...line('State', `${stateText(campaign)}${campaign.round > 1 ? `, round ${campaign.round}` : ''}`),
    ...line('Waiting', reading?.text ?? ''),
    ...line('To do', reading?.todo ?? ''),
    ...line(
      'Rows',
      `${count(status.total)}: ${count(status.done)} done, ${count(status.open)} with a call open, ${planned}${count(status.waiting)} waiting${due}`,
    ),
    ...(limits === null ? [] : pacingLines(limits, clock, now)).flatMap(([label, text]) => line(label, text)),
    ...line('Clocks', clocksText(clocksApartMs)),
    ...callerUseLines(callers).flatMap((text, index) => line(index === 0 ? 'Numbers' : '', text)),
    ...hookLines(hooks, campaign.rules, clock, now).flatMap((text, index) => line(index === 0 ? 'Hooks' : '', text)),
    ...line('Outcomes', outcomeCounts(status)),
    ...line('Calls', dispositionCounts(status)),
    ...line('Results', resultCounts(campaign, status)),
    ...line('Pilot', pilotText(view.pilot)),
    ...line('Callbacks', callbackCounts(view.callbacks, clock.now())),
    ...line('Doubtful', undecided === 0 ? '' : `${count(undecided)} batches whose fate is still being looked up`),
    ...line('Apart', apartText(campaign, doubt)),
    ...unresolvedLines(campaign, doubt),
    ...line('Workflow', why.look == null ? '' : workflowText(why.look, counters)),
  ];
}

function clocksText(apartMs: number): string {
  if (apartMs === 0) return '';
  const way = apartMs > 0 ? 'ahead of' : 'behind';
  return `the service's is ${span(Math.abs(apartMs))} ${way} a worker's: nobody is dialled until they agree (set the machine's clock, NTP)`;
}
