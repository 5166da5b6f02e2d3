import { expect, test } from 'vitest';
import { isSameService, otherServiceText } from '../../src/rules/service-api.ts';

test.each([
  ['https://voice.example', 'https://voice.example'],
  ['https://voice.example/api', 'https://voice.example/api/'],
  ['https://voice.example', 'https://voice.example:443/'],
  ['http://127.0.0.1:4010', 'http://localhost:4010'],
  ['http://[::1]:4010/', 'http://127.0.0.1:4010'],
  ['account', 'account'],
])('%s and %s are one service', (one, other) => {
  expect(isSameService(one, other)).toBe(true);
  expect(isSameService(other, one)).toBe(true);
});

test.each([
  ['https://voice.example', 'https://other.example'],
  ['https://voice.example/api', 'https://voice.example'],
  ['https://voice.example/api', 'https://voice.example/API'],
  ['https://voice.example', 'http://voice.example'],
  ['http://127.0.0.1:4010', 'http://127.0.0.1:4011'],
  ['http://127.0.0.1:4010', 'http://127.0.0.2:4010'],
  ['http://127.0.0.1:4010', 'https://voice.example'],
  ['account', 'other'],
])('%s and %s are two', (one, other) => {
  expect(isSameService(one, other)).toBe(false);
  expect(isSameService(other, one)).toBe(false);
});

test('what is said of another service names both addresses and what to do', () => {
  const campaign = { campaignId: 'spring', accountId: 'https://voice.example', api: 'contract' as const };
  expect(otherServiceText(campaign, { accountId: 'http://127.0.0.1:4010', api: 'contract' })).toBe(
    'Campaign spring was started against the service at https://voice.example, and SVC_BASE_URL here is http://127.0.0.1:4010: nothing is done for it here. ' +
      'Set SVC_BASE_URL to its service, or, if that has moved with its calls and records, move its campaigns to the new address',
  );
  expect(otherServiceText(campaign, { accountId: 'https://voice.example/', api: 'batch-calling' })).toBe(
    'Campaign spring was started with SVC_API=contract, and SVC_API here is batch-calling: nothing is done for it here. Set SVC_API=contract',
  );
});
