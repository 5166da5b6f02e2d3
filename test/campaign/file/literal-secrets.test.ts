import { expect, test } from 'vitest';
import { readCampaignFile } from '../../../src/campaign/file/file.ts';
import { messageOf, minimalCampaign, writeCampaign } from '../../list/campaign-folder.ts';

const planted = 'sk_Planted4711';
const list = 'name,phone\nAna,+12125550130\n';

async function read(yaml: string): Promise<unknown> {
  const { campaignPath } = await writeCampaign(`${minimalCampaign}${yaml}\n`, list);
  return readCampaignFile(campaignPath);
}

const override = (settings: string) => `conversation_config_override: { agent: { ${settings} } }`;
const ownModel = (settings: string) => override(`llm: { model_id: custom, custom_llm: { url: "https://m.example/v1", ${settings} } }`);

test.each([
  ['pre_dial.url', `pre_dial: { url: "https://hooks.example.com/ask?key=${planted}" }`],
  ['on_completion.url', `on_completion: { url: "https://hooks.example.com/end?key=${planted}" }`],
  ['on_pause.url', `on_pause: { url: "https://hooks.example.com/paused?key=${planted}" }`],
  ['pre_dial.url', `pre_dial: { url: "https://user:${planted}@hooks.example.com/ask" }`],
  ['custom_llm.extra_headers.authorization', ownModel(`extra_headers: { authorization: "Bearer ${planted}" }`)],
  ['custom_llm.extra_headers.x-key', ownModel(`extra_headers: { x-key: "${planted}{{ name }}" }`)],
  ['custom_llm.url', override(`llm: { custom_llm: { url: "https://m.example/v1?key=${planted}" } }`)],
  ['tools[0].request_headers.key', override(`tools: [{ request_headers: { key: ${planted} } }]`)],
  ['api_key', override(`llm: { api_key: ${planted} }`)],
  ['variables.values.secret__token', `variables: { values: { secret__token: ${planted} } }`],
])('a secret written literally in %s is refused, and not repeated', async (place, yaml) => {
  const message = await messageOf(read(yaml));
  expect(message).toContain(`${place}: this cannot be used; `);
  expect(message).not.toContain(planted);
});

test.each([
  ['the place of an address', 'pre_dial: { url: env://CARILLON_URL_ASK }'],
  ['an address without a query', 'on_completion: { url: "https://hooks.example.com/end" }'],
  ['a header out of the list', ownModel('extra_headers: { x-customer: "{{ name }}" }')],
  ['a prompt with an address in it', override('prompt: { prompt: "See https://a.example/?page=1 for {{ name }}." }')],
  ['a secret out of the list', 'variables: { values: { secret__token: "{{ name }}" } }'],
])('%s is taken', async (_what, yaml) => {
  await expect(read(yaml)).resolves.toBeDefined();
});
