/** What a campaign may be called, as near to the name as it gets. */
export function campaignIdFrom(name: string): string {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
    .slice(0, 64);
  return id === '' ? 'my-campaign' : id;
}
