import { operations } from '../../../operations/list.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { campaignPath, examplePath } from '../core/links.ts';
import { pressView } from '../core/press.ts';

/** The example campaign on the sandbox of this server, at one click from the page without campaigns. */
export const startExample: ConsoleAction = {
  path: examplePath,
  role: operations.startExample.role,
  form: async ({ context }, given) =>
    pressView(given, {
      title: 'Run the example?',
      section: 'campaigns',
      crumbs: [['/', 'Campaigns']],
      back: ['/', 'the campaigns'],
      obstacle:
        context.quickenSandbox === undefined
          ? { why: 'This server has no sandbox. Run carillon demo or carillon dev on your own machine.', status: 409 }
          : null,
      says: null,
      standing: [],
      effects: [
        ['people', '', 'A campaign with 300 made-up people starts. The sandbox answers; no real phone rings.'],
        ['clock', '', 'Unless a speed was chosen, a minute of the sandbox takes a second from then on, for all campaigns.'],
      ],
      button: 'Run the example',
    }),
  call: () => apiCall('startExample'),
  done: (_sent, { body }) => ({
    to: campaignPath(String(body['campaignId'])),
    said: 'The example runs in the sandbox: 300 made-up people, and no real phone rings.',
  }),
};
