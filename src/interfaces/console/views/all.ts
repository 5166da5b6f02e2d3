import type { View, ViewRequest } from '../core/view.ts';
import { callView } from './call.ts';
import { campaignEventsView } from './campaign-events.ts';
import { campaignFiguresView } from './campaign-figures.ts';
import { campaignView } from './campaign.ts';
import { campaignsView } from './campaigns.ts';
import { doNotCallEntriesView } from './do-not-call-entries.ts';
import { doNotCallView } from './do-not-call.ts';
import { personView } from './person.ts';
import { reportView } from './report.ts';
import { resultsView } from './results.ts';
import { rowsView } from './rows.ts';
import { schedulesView } from './schedules.ts';
import { unresolvedView } from './unresolved.ts';
import { webhooksView } from './webhooks.ts';

/** The views by their address. */
export const views: Readonly<Record<string, (request: ViewRequest) => Promise<View>>> = {
  '/': campaignsView,
  '/campaigns/:campaign': campaignView,
  '/campaigns/:campaign/events': campaignEventsView,
  '/campaigns/:campaign/figures': campaignFiguresView,
  '/campaigns/:campaign/rows': rowsView,
  '/campaigns/:campaign/rows/:row': personView,
  '/campaigns/:campaign/rows/:row/calls/:call': callView,
  '/campaigns/:campaign/unresolved': unresolvedView,
  '/campaigns/:campaign/report': reportView,
  '/campaigns/:campaign/results': resultsView,
  '/do-not-call': doNotCallView,
  '/do-not-call/entries': doNotCallEntriesView,
  '/schedules': schedulesView,
  '/webhooks': webhooksView,
};

/** Those that are asked for by POST as well: what is searched for may be a number, which belongs in no address. */
export const searches: Readonly<Record<string, (request: ViewRequest) => Promise<View>>> = {
  '/campaigns/:campaign/rows': rowsView,
  '/do-not-call': doNotCallView,
  '/do-not-call/entries': doNotCallEntriesView,
};
