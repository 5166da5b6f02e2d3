import type { Rule } from './rule.ts';

/** What tables and the service's own lists are held to, by `tables.ts` and `service.ts`. */
export const tableRules = {
  campaign_differs: { promise: 'state, rules and rows of every campaign are in the tables as in the log' },
  rows_differ: { promise: 'the results of every row are in the tables as in the log, and its number, zones and cells as imported' },
  calls_differ: { promise: 'every call and the record that it owns are in the tables as in the log' },
  requests_differ: { promise: 'every request, its verdict and its batch are in the tables as in the log' },
  list_differs: { promise: 'the do-not-call list is what the log says: nobody was put on it or taken off it in silence' },
  record_contradicts: { promise: 'no end of a call contradicts the record that it owns' },
  record_ignored: {
    promise: "every record that names one of our calls belongs to that call, as stored and in the service's own list",
  },
  service_differs: { promise: 'every batch that the service has from this database is in the log, and reported as the log has it' },
  service_repeats: { promise: 'the service calls nobody a second time by itself' },
} satisfies Record<string, Rule>;
