/** The median of the values that are not NaN; NaN if there is none. */
export function median (values) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  if (sorted.length === 0) return NaN
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2
}

/** The value below which a share of sorted values lies, between two of them if need be. */
function quantile (sorted, share) {
  const at = (sorted.length - 1) * share
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

/**
 * How far the median of these values may be from the true one, as a share of it, with a probability of about 95 %:
 * 1.57 times the distance between the quartiles, divided by the root of their number (McGill, Tukey and Larsen,
 * "Variations of Box Plots", 1978). NaN for fewer than three values.
 */
export function uncertainty (values) {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  if (sorted.length < 3) return NaN
  return 1.57 * (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / Math.sqrt(sorted.length) / median(sorted)
}
