import { Command, InvalidArgumentError } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { openLedger } from '../../../operations/control/ledger.ts';
import {
  addWebhook,
  pauseOrResumeWebhook,
  pingWebhook,
  removeWebhook,
  requireWebhook,
  type ChangedWebhook,
} from '../../../operations/control/webhooks.ts';
import { webhookEventTypes, type WebhookEventType } from '../../../rules/webhooks/messages.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { addressPlace } from '../../../shared/hooks/errors.ts';
import { listWebhooks, type Webhook } from '../../../ledger/webhooks/registry.ts';
import { webhookAsJson, webhookStanding } from '../../../presentation/words/webhooks.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin, writeAnswer } from '../terminal/answer.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import { operations } from '../../../operations/list.ts';

const examples = `
A webhook is an address that is told of what happens: that a row has ended, or that a campaign has started, paused or ended. Workers send
it one signed request (Standard Webhooks) per event, in the order of the event log, until each one is taken. No request holds a number, a
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

const byPerson = { by: 'person' };

/** `carillon webhook`: which other systems are told of events. */
export function webhookCommand(io: Io): Command {
  const command = new Command('webhook').addHelpText('after', examples);
  command
    .command('add')
    .description(operations.addWebhook.says)
    .argument('<url>', 'https address, or where it stands (env://CARILLON_URL_<NAME>, url-file:///path)')
    .option('--campaign <id>', 'only events of this campaign (default: of all)')
    .option('--events <types>', 'only these events, with commas between them (default: all)', readTypes)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon webhook add https://crm.example.com/carillon --events row.ended')
    .action((url: string, flags: AddFlags) => add(io, url, flags));
  command
    .command('list')
    .description(operations.listWebhooks.says)
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon webhook list --json')
    .action(({ json }: { json: boolean }) => list(io, json));
  ofOne(command, 'test', 'Send a ping from this machine, and say whether it was taken').action((id: string, { json }: { json: boolean }) =>
    test(io, id, json),
  );
  ofOne(command, 'pause', operations.pauseWebhook.says).action((id: string, { json }: { json: boolean }) =>
    steer(io, id, { wish: 'pause', json }),
  );
  ofOne(command, 'resume', 'Send what was held back; after failures, try at once').action((id: string, { json }: { json: boolean }) =>
    steer(io, id, { wish: 'resume', json }),
  );
  ofOne(command, 'remove', operations.removeWebhook.says)
    .option('-y, --yes', 'do not ask for confirmation', false)
    .action((id: string, flags: { yes: boolean; json: boolean }) => remove(io, id, flags));
  return command;
}

interface AddFlags {
  campaign?: string;
  events?: WebhookEventType[];
  json: boolean;
}

function ofOne(command: Command, name: string, description: string): Command {
  return command
    .command(name)
    .description(description)
    .argument('<id>', 'id of the webhook, as carillon webhook list shows it')
    .option('--json', 'print JSON', false)
    .addHelpText('after', `\nExample:\n  carillon webhook ${name} 4f7c2f0e9a1b`);
}

function readTypes(text: string): WebhookEventType[] {
  const types = text.split(',').map((type) => type.trim());
  const known: readonly string[] = webhookEventTypes;
  const unknown = types.filter((type) => !known.includes(type));
  if (unknown.length === 0) return [...new Set(types)] as WebhookEventType[];
  throw new InvalidArgumentError(`There is no event ${JSON.stringify(unknown[0])}; events are ${known.join(', ')}.`);
}

async function add(io: Io, url: string, { campaign, events, json }: AddFlags): Promise<void> {
  await withControl(
    io,
    async (control) => {
      const input = { url, campaign: campaign ?? null, types: events ?? null, ...byPerson };
      const changed = await addWebhook(control, input);
      const { webhookId } = changed.webhook;
      writeChanged(io, changed, {
        json,
        words: `Webhook ${webhookId} is told of what happens from now on. carillon webhook test ${webhookId} sends it a ping.\n`,
      });
    },
    openLedger,
  );
}

function writeChanged(io: Io, { webhook, notice }: ChangedWebhook, answer: { json: boolean; words: string }): void {
  const { json, words } = answer;
  writeAnswer(io, json, { data: withInstants({ ...webhookAsJson(webhook), notice }), words });
  if (notice !== null && !json) io.stderr.write(`Temporal could not be told (${notice}). A worker that runs sees it within a minute.\n`);
}

async function list(io: Io, json: boolean): Promise<void> {
  await withControl(io, async ({ store }) => {
    const webhooks = await listWebhooks(store.db);
    const table = renderTable<Webhook>(
      [
        { title: 'Id', value: ({ webhookId }) => webhookId },
        { title: 'Address', value: ({ url }) => addressPlace(url) },
        { title: 'Campaign', value: ({ campaignId }) => campaignId ?? 'all' },
        { title: 'Events', value: ({ types }) => types?.join(', ') ?? 'all', flexible: true },
        { title: 'State', value: (webhook) => webhookStanding(webhook, io.now()), flexible: true },
      ],
      webhooks,
      terminalWidth(io),
    );
    writeAnswer(io, json, {
      data: withInstants({ webhooks: webhooks.map(webhookAsJson) }),
      words: webhooks.length === 0 ? '' : table,
    });
    if (webhooks.length === 0 && !json) io.stderr.write('There is no webhook yet: carillon webhook add makes one.\n');
  });
}

async function test(io: Io, webhookId: string, json: boolean): Promise<void> {
  await withControl(io, async (control) => {
    const result = await pingWebhook(control, webhookId);
    writeAnswer(io, json, {
      data: { webhookId, ...result },
      words: result.delivered ? `Webhook ${webhookId} has taken the ping.\n` : '',
    });
    if (result.delivered) return;
    io.exitCode = 1;
    if (!json) io.stderr.write(`Webhook ${webhookId} has not taken the ping: ${result.why}.\n`);
  });
}

async function steer(io: Io, webhookId: string, { wish, json }: { wish: 'pause' | 'resume'; json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    const changed = await pauseOrResumeWebhook(control, webhookId, { wish, ...byPerson });
    const words = `Webhook ${webhookId}: ${webhookStanding(changed.webhook, io.now())}.\n`;
    writeChanged(io, changed, { json, words });
  });
}

async function remove(io: Io, webhookId: string, { yes, json }: { yes: boolean; json: boolean }): Promise<void> {
  await withControl(io, async (control) => {
    await requireWebhook(control, webhookId);
    if (!(await mayBegin(io, yes, `Remove webhook ${webhookId}? What it has not been told yet is not sent to it.`))) return;
    const webhook = await removeWebhook(control, webhookId, byPerson);
    writeAnswer(io, json, {
      data: withInstants(webhookAsJson(webhook)),
      words: `Webhook ${webhookId} is removed.\n`,
    });
  });
}
