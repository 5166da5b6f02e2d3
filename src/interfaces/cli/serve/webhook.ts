import { InvalidArgumentError } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import { pingWebhook, requireWebhook } from '../../../operations/control/webhooks.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import type { RunAnswer } from '../../../operations/runs/perform.ts';
import { webhookEventTypes, type WebhookEventType } from '../../../rules/webhooks/messages.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { addressPlace } from '../../../shared/hooks/errors.ts';
import { readClock } from '../../../operations/control/service.ts';
import type { ServiceClock } from '../../../service/port/service-clock.ts';
import { listWithWaiting, type WebhookWithWaiting } from '../../../ledger/webhooks/waiting.ts';
import { waitingText, webhookAsJson, webhookStatus } from '../../../presentation/words/hooks.ts';
import { mayBegin } from '../terminal/answer.ts';
import { commandOf, groupOf, type CommandOutput } from '../terminal/command.ts';
import { tableOrNone, type Column } from '../terminal/table.ts';
import { webhookOperations as operations } from '../../../operations/webhooks.ts';

const examples = `
A webhook is an address that is notified of events: a row ended, or a campaign started, paused or ended. Workers send it one signed
request (Standard Webhooks) per event, in the order of the event log, until each one is taken. No request holds a number, a
name, or what was said.

Requests are signed with CARILLON_HOOK_SECRET, which this command, every worker and the receiver have. An address that is a secret itself
is kept elsewhere: env://CARILLON_URL_<NAME> names a variable of the workers, url-file:///path a file on their machines.

Events: ${webhookEventTypes.join(', ')}

Examples:
  carillon webhook add https://crm.example.com/carillon
  carillon webhook add env://CARILLON_URL_CRM --campaign reminders --events row.ended,campaign.completed
  carillon webhook list
  carillon webhook test 4f7c2f0e9a1b
  carillon webhook resume 4f7c2f0e9a1b
  carillon webhook remove 4f7c2f0e9a1b`;

const clockLimitMs = 3_000;
const one = ['<id>', 'id of the webhook, as carillon webhook list shows it'] as const;

export const webhookCommand = groupOf({ name: 'webhook', help: examples }, [
  commandOf<{ campaign?: string; events?: WebhookEventType[] }>({
    name: 'add',
    says: operations.addWebhook.says,
    argument: ['<url>', 'https address, or where it stands (env://CARILLON_URL_<NAME>, url-file:///path)'],
    flags: [
      ['--campaign <id>', 'only events of this campaign (default: of all)'],
      ['--events <types>', 'only these events, with commas between them (default: all)', readTypes],
    ],
    changes: true,
    examples: ['carillon webhook add https://crm.example.com/carillon --events row.ended'],
    run: async (io, { campaign, events: types, key }, url) => {
      const sent = { body: { url, campaign, types }, key };
      const changed = await withControl(io, (control) => performHere(control, 'addWebhook', sent), openLedger);
      const { webhookId } = changed;
      return formatAnswer(changed, `Webhook ${webhookId} is notified from now on. carillon webhook test ${webhookId} sends it a ping.\n`);
    },
  }),
  commandOf({
    name: 'list',
    says: operations.listWebhooks.says,
    examples: ['carillon webhook list --json'],
    run: (io) =>
      withControl(io, async ({ store, config }) => {
        const webhooks = await listWithWaiting(store.db);
        const clock = webhooks.length === 0 ? null : await readClock(config, clockLimitMs).catch(() => null);
        return {
          data: withInstants({ webhooks: webhooks.map(webhookAsJson) }),
          ...tableOrNone(io, columns(io.now(), clock), webhooks, 'There is no webhook yet: carillon webhook add makes one.\n'),
        };
      }),
  }),
  commandOf({
    name: 'test',
    says: 'Send a ping from this machine, and say whether it was taken',
    argument: one,
    examples: ['carillon webhook test 4f7c2f0e9a1b'],
    run: async (io, _flags, webhookId) => {
      const result = await withControl(io, (control) => pingWebhook(control, webhookId));
      const data = { webhookId, ...result };
      if (result.delivered) return { data, words: `Webhook ${webhookId} has taken the ping.\n` };
      io.exitCode = 1;
      return { data, words: '', aside: `Webhook ${webhookId} has not taken the ping: ${result.why}.\n` };
    },
  }),
  stateCommand('pause', operations.pauseWebhook.says),
  stateCommand('resume', 'Send what was held back; after failures, try at once'),
  commandOf({
    name: 'remove',
    says: operations.removeWebhook.says,
    argument: one,
    asks: true,
    changes: true,
    examples: ['carillon webhook remove 4f7c2f0e9a1b'],
    run: (io, { yes, key }, webhookId) =>
      withControl(io, async (control) => {
        if (!yes) await requireWebhook(control, webhookId);
        if (!(await mayBegin(io, yes, `Remove webhook ${webhookId}? Events that it has not taken yet are not sent to it.`))) return null;
        const data = await performHere(control, 'removeWebhook', { params: { webhook: webhookId }, key });
        return { data, words: `Webhook ${webhookId} is removed.\n` };
      }),
  }),
]);

function stateCommand(action: 'pause' | 'resume', says: string) {
  return commandOf({
    name: action,
    says,
    argument: one,
    changes: true,
    examples: [`carillon webhook ${action} 4f7c2f0e9a1b`],
    run: (io, { key }, webhookId) =>
      withControl(io, async (control) => {
        const changed = await performHere(control, `${action}Webhook`, { params: { webhook: webhookId }, key });
        return formatAnswer(changed, `Webhook ${webhookId}: ${webhookStatus(await requireWebhook(control, webhookId), io.now())}.\n`);
      }),
  });
}

function readTypes(text: string): WebhookEventType[] {
  const types = text.split(',').map((type) => type.trim());
  const known: readonly string[] = webhookEventTypes;
  const unknown = types.filter((type) => !known.includes(type));
  if (unknown.length === 0) return [...new Set(types)] as WebhookEventType[];
  throw new InvalidArgumentError(`There is no event ${JSON.stringify(unknown[0])}; events are ${known.join(', ')}.`);
}

function formatAnswer(data: RunAnswer<'addWebhook'>, words: string): CommandOutput {
  const { notice } = data;
  const aside = notice === null ? '' : `Temporal could not be notified (${notice}). A running worker sees the change within a minute.\n`;
  return { data, words, aside };
}

const columns = (now: number, clock: ServiceClock | null): Column<WebhookWithWaiting>[] => [
  { title: 'Id', value: ({ webhookId }) => webhookId },
  { title: 'Address', value: ({ url }) => addressPlace(url) },
  { title: 'Campaign', value: ({ campaignId }) => campaignId ?? 'all' },
  { title: 'Events', value: ({ types }) => types?.join(', ') ?? 'all', flexible: true },
  { title: 'State', value: (webhook) => `${webhookStatus(webhook, now)}; ${waitingText(webhook.waiting, now, clock)}`, flexible: true },
];
