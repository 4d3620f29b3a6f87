// Patterns of a legal list: {any_of: items, min: 1, max: 3} stands for any choice of one to three of the items.

// The action with as few items as each of its patterns allows.
export function resolved(action) {
  return Object.fromEntries(Object.entries(action).map(([name, value]) => [name, taken(value)]));
}

function taken(value) {
  return Array.isArray(value?.any_of) ? value.any_of.slice(0, value.min) : value;
}
