import { count, plural } from '../../../shared/input/figures.ts';
import { hasClosed, hasEnded } from '../../../rules/lifecycle.ts';
import { isNeverCalledAgain } from '../../../rules/outcome.ts';
import { html, type HtmlValue } from '../../../presentation/html/html.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import { localMinute } from '../../../shared/input/times.ts';
import { readNumberView, type NumberView, type NumberViewCall, type NumberViewRow } from '../../../ledger/read/callee.ts';
import type { CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { campaignPath, fixPath, rowPath } from '../core/links.ts';
import { openCampaign, requireRow } from '../core/rows.ts';
import { may, type ViewRequest } from '../core/view.ts';
import { stepsOf } from './steps.ts';

export interface Person {
  campaign: Campaign;
  row: CampaignRow & { cells: string };
  /** Undefined without a number. */
  own: NumberViewRow | undefined;
  /** The same number in other rows and campaigns. */
  others: readonly NumberViewRow[];
  callee: NumberView | null;
}

/** Throws as `requireRow`. */
export async function readPerson(request: ViewRequest): Promise<Person> {
  const { campaign, campaignId, db } = await openCampaign(request);
  const row = await requireRow(request, campaignId);
  const callee = row.e164 === null ? null : await readNumberView(db, row.e164, request.now);
  const own = callee?.rows.find(
    ({ campaign: { campaignId: other }, recipient }) => other === campaignId && recipient.row_number === row.row,
  );
  return { campaign, row, own, others: (callee?.rows ?? []).filter((each) => each !== own), callee };
}

/** `New York, 10:42`. */
export function localTime(zones: readonly string[], now: number): string {
  const [zone = 'UTC'] = zones;
  const clock = localMinute(new Date(now).toISOString(), zone).slice(-'00:00'.length);
  const others = zones.length > 1 ? `, or ${plural(zones.length - 1, 'other zone')}` : '';
  return `${(zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')}, ${clock}${others}`;
}

export function actsOf(request: ViewRequest, { campaign, row }: Pick<Person, 'campaign' | 'row'>): Act[] {
  if (!may(request, 'operate')) return [];
  const { campaignId } = campaign;
  const at = (more: string): string => rowPath(campaignId, row.row, more);
  const acts: (Act | false)[] = [
    row.outcome === 'unresolved' && [
      campaignPath(campaignId, '/unresolved'),
      'person',
      'Decide what became of the call…',
      'Nobody knows it',
    ],
    row.outcome === 'exhausted' &&
      hasClosed(campaign) && [campaignPath(campaignId, '/retry'), 'retry', 'Call again in a new round…', 'With all who were not reached'],
    row.outcome === 'rejected' && [fixPath(campaignId, row.row - 1), 'pencil', 'Correct this row…', 'And put it in line'],
    !hasEnded(campaign) &&
      row.e164 !== null &&
      !isNeverCalledAgain(row.outcome) && [at('/callback'), 'clock', 'Call back at a time…', 'A promise: by their clock'],
    row.state !== 'done' && [at('/withdraw'), 'x', 'Remove from campaign…', 'Not called in this campaign'],
    row.e164 !== null && [at('/evidence.zip'), 'download', 'Evidence of the calls', 'Signed, for whoever asks'],
    row.e164 !== null && [at('/suppress'), 'ban', 'Do not call this number…', 'In all campaigns, from now on'],
  ];
  return acts.filter((act) => act !== false);
}

type Act = readonly [path: string, drawing: IconName, words: string, small: string];

/** What the agent collected in a call, and its evaluation. */
export function collectedOf({ facts: known }: Pick<NumberViewCall, 'facts'>): (readonly [string, string])[] {
  return Object.entries({ ...known?.collected, ...known?.evaluation }).map(([name, value]) => [printable(name), valueText(value)] as const);
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

export function storyOf(request: ViewRequest, { own, row, callee }: Person): HtmlValue {
  if (own !== undefined) return stepsOf(own, callee?.events ?? [], may(request, 'operate'));
  return html`<p class="soft">Row ${count(row.row)} of the list has no number that could be called.</p>`;
}
