import { aside, count, empty, figure, instant, link, panel, phone, table } from '../../../presentation/html/elements.ts';
import type { Html } from '../../../presentation/html/html.ts';
import { readLiveCalls, type LiveCall } from '../../../ledger/read/live-calls.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { callPath, rowPath, rowsPath } from '../core/links.ts';
import { shownNumber } from '../core/rows.ts';
import { may, type ViewRequest } from '../core/view.ts';

const mostCalls = 12;

const states: Readonly<Record<LiveCall['state'], string>> = {
  requested: 'Requested; the service has not answered yet',
  unknown: 'Not known whether it was placed',
  accepted: 'Accepted by the service',
  over: 'Over; results are still to come',
};

/** The calls that have no result yet, each with its row. */
export async function liveCallsPanel(request: ViewRequest, campaign: Campaign): Promise<Html> {
  const { context, now } = request;
  const { campaignId } = campaign;
  const { calls, total } = await readLiveCalls(context.store.db, campaign, { limit: mostCalls, now });
  const isOffered = may(request, 'operate');
  const more = total - calls.length;
  return panel(
    'On the line',
    [
      table(
        'Calls without a result, the longest first',
        calls.map((call) => ({
          key: `live-${call.row}`,
          cells: {
            Row: link(rowPath(campaignId, call.row), figure(call.row)),
            Number: shownNumber(request, campaignId, call.e164),
            Call: isOffered ? link(callPath(campaignId, call.row, call.attempt), figure(call.attempt)) : figure(call.attempt),
            From: phone(call.caller),
            'How it stands': states[call.state],
            Since: instant(call.since),
          },
        })),
        empty('No call is open', 'Each call stands here from its request until its result is known.'),
      ),
      more === 0 ? null : aside(`And ${count(more, 'more call')}, requested later.`),
    ],
    total === 0 ? null : link(rowsPath(campaignId, { state: 'open' }), 'All rows with an open call'),
  );
}
