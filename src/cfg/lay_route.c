// SPDX-License-Identifier: GPL-2.0-only
/*
 * Last stage of the layout: rows and lines. Between two layers lies a channel; what an edge does
 * there is a wire: down from its upper end, along a track, down to its lower end. An upward edge
 * has two wires whose ends are on the same side: below its source and above its target. Two wires
 * must not use the same cells, so where one starts in the column in which another ends, its track
 * is above the other's (the vertical constraint of channel routing; a cycle of constraints is
 * broken by a wire on two tracks, a dogleg: D. N. Deutsch, "A dogleg channel router", DAC 1976).
 */
#include "cfg/layout_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE LOUPE_CFG_NONE
/* Beyond that many tracks, rows are saved at the price of crossings. */
#define SOFT_ROWS 4
#define MASK_ROWS 64

struct wire {
	int32_t x[2];	/* ends, in the direction of the edge */
	bool bottom[2]; /* the end is at the channel's bottom */
	uint32_t node[2];
	uint32_t channel;
	uint32_t edge;
	uint32_t track, track2; /* the second after the column mid, if it has one */
	int32_t mid;		/* -1: none */
};

struct router {
	struct lay_graph *g;
	struct wire *wires; /* by edge, in its direction */
	uint32_t wire_cnt;
	uint32_t *wire_first;	 /* by edge, one more */
	uint32_t *channel_first; /* by channel, one more; in by_channel */
	uint32_t *by_channel;
	int32_t *channel_rows;
	/* by column, for the channel being worked on */
	uint32_t *top_owner; /* wire that has its upper end there */
	uint64_t *taken;     /* tracks */
	uint32_t *high;	     /* greatest track + 1, where that is more than MASK_ROWS */
	/* scratch, by the channel's wires */
	uint32_t *list;
	struct task *tasks;
};

/* ---- wires -------------------------------------------------------------------------------- */

static int32_t exit_column(const struct lay_graph *g, const struct lay_edge *edge)
{
	const struct lay_node *from = &g->nodes[edge->from];

	return from->x + lay_port_offset(from->w, edge->port);
}

static void add_wire(struct router *r, uint32_t edge, uint32_t channel, uint32_t from,
		     bool from_bottom, uint32_t to, bool to_bottom)
{
	const struct lay_graph *g = r->g;
	struct wire *wire = &r->wires[r->wire_cnt++];
	uint32_t ends[2] = { from, to };

	*wire = (struct wire){
		.bottom = { from_bottom, to_bottom },
		.node = { from, to },
		.channel = channel,
		.edge = edge,
		.mid = -1,
	};
	for (int i = 0; i < 2; i++) {
		const struct lay_node *node = &g->nodes[ends[i]];

		if (node->type == LAY_BLOCK)
			wire->x[i] = exit_column(g, &g->edges[edge]); /* entries are chosen later */
		else
			wire->x[i] = node->x + lay_anchor(g, node);
	}
}

static void make_wires(struct router *r)
{
	const struct lay_graph *g = r->g;

	for (uint32_t e = 0; e < g->edge_cnt; e++) {
		const struct lay_edge *edge = &g->edges[e];
		uint32_t from = edge->from;

		r->wire_first[e] = r->wire_cnt;
		if (edge->upwards && !edge->cut) {
			uint32_t last = edge->dummy + edge->dummy_cnt - 1;

			add_wire(r, e, g->nodes[from].layer + 1, from, false, last, false);
			for (; last > edge->dummy; last--)
				add_wire(r, e, g->nodes[last].layer, last, true, last - 1, false);
			add_wire(r, e, g->nodes[last].layer, last, true, edge->to, true);
			continue;
		}
		for (uint32_t i = 0; i < (edge->cut ? 0 : edge->dummy_cnt); i++) {
			add_wire(r, e, g->nodes[from].layer + 1, from, false, edge->dummy + i,
				 true);
			from = edge->dummy + i;
		}
		add_wire(r, e, g->nodes[from].layer + 1, from, false, edge->to, true);
	}
	r->wire_first[g->edge_cnt] = r->wire_cnt;
	for (uint32_t w = 0; w < r->wire_cnt; w++)
		r->channel_first[r->wires[w].channel + 1]++;
	for (uint32_t c = 0; c <= g->layer_cnt; c++)
		r->channel_first[c + 1] += r->channel_first[c];
	/* list is still empty and counts what each channel has got */
	for (uint32_t w = 0; w < r->wire_cnt; w++) {
		uint32_t c = r->wires[w].channel;

		r->by_channel[r->channel_first[c] + r->list[c]++] = w;
	}
}

/* ---- where edges enter a block ------------------------------------------------------------ */

struct entry {
	int32_t from; /* column of the other end */
	int32_t at;
	uint32_t wire;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->wire < y->wire ? -1 : x->wire > y->wire;
}

static int32_t clamp(int32_t x, int32_t low, int32_t high)
{
	return x < low ? low : x > high ? high : x;
}

static bool is_owned(const struct router *r, int32_t x, uint32_t wire)
{
	return r->top_owner[x] != NONE && r->top_owner[x] != wire;
}

/* Entries in order, as near to where their edges come from as the border allows, two columns apart
 * and off the columns in which other wires begin. False if there is no room for that. */
static bool spread_freely(const struct router *r, struct entry *entries, uint32_t cnt, int32_t low,
			  int32_t high)
{
	for (uint32_t i = 0; i < cnt; i++) {
		int32_t least = i ? entries[i - 1].at + 2 : low;
		int32_t most = high - 2 * (int32_t)(cnt - 1 - i), at;

		if (most < least)
			return false;
		at = clamp(entries[i].from, least, most);
		while (at <= most && is_owned(r, at, entries[i].wire))
			at++;
		if (at > most) {
			for (at = most; at >= least && is_owned(r, at, entries[i].wire);)
				at--;
		}
		if (at < least)
			return false;
		entries[i].at = at;
	}
	return true;
}

/* As many columns apart as there is room for, in the same column if there is none. */
static void spread_closely(struct entry *entries, uint32_t cnt, int32_t low, int32_t high)
{
	int32_t step = 2;

	while (step && (int64_t)(cnt - 1) * step > high - low)
		step--;
	for (uint32_t i = 0; i < cnt; i++) {
		entries[i].at = clamp(entries[i].from, low, high);
		if (i && entries[i].at < entries[i - 1].at + step)
			entries[i].at = entries[i - 1].at + step;
	}
	for (uint32_t i = cnt; i-- > 0;) {
		int32_t most = i + 1 < cnt ? entries[i + 1].at - step : high;

		entries[i].at = entries[i].at > most ? most : entries[i].at;
	}
}

static void spread_entries(const struct router *r, uint32_t n, struct entry *entries, uint32_t cnt)
{
	const struct lay_node *node = &r->g->nodes[n];
	int32_t edge = node->w >= 6 ? 2 : 1, mark = lay_mark_width(r->g, n);
	int32_t low = node->x + edge, high = node->x + node->w - 1 - edge - (mark ? mark + 1 : 0);

	high = high < low ? low : high;
	qsort(entries, cnt, sizeof(*entries), compare_entries);
	if (!spread_freely(r, entries, cnt, low, high))
		spread_closely(entries, cnt, low, high);
	for (uint32_t i = 0; i < cnt; i++)
		r->wires[entries[i].wire].x[1] = entries[i].at;
}

/* All blocks below the channel; wires that enter blocks are sorted by block. */
static int choose_entries(struct router *r, uint32_t channel)
{
	uint32_t first = r->channel_first[channel], end = r->channel_first[channel + 1];
	struct entry *entries = malloc(((size_t)(end - first) + 1) * sizeof(*entries));
	uint32_t *count = r->list; /* by position in the layer */
	const struct lay_graph *g = r->g;
	uint32_t slot, layer_end, next = 0;

	if (!entries)
		return -ENOMEM;
	if (channel == g->layer_cnt) {
		free(entries);
		return 0;
	}
	slot = g->layer_first[channel];
	layer_end = g->layer_first[channel + 1];
	memset(count, 0, (layer_end - slot + 1) * sizeof(*count));
	for (uint32_t i = first; i < end; i++) {
		const struct wire *wire = &r->wires[r->by_channel[i]];

		if (wire->bottom[1] && g->nodes[wire->node[1]].type == LAY_BLOCK)
			count[g->nodes[wire->node[1]].pos + 1]++;
	}
	for (uint32_t pos = 0; pos < layer_end - slot; pos++)
		count[pos + 1] += count[pos];
	for (uint32_t i = first; i < end; i++) {
		const struct wire *wire = &r->wires[r->by_channel[i]];

		if (wire->bottom[1] && g->nodes[wire->node[1]].type == LAY_BLOCK)
			entries[count[g->nodes[wire->node[1]].pos]++] =
				(struct entry){ .from = wire->x[0], .wire = r->by_channel[i] };
	}
	for (uint32_t pos = 0; pos < layer_end - slot; pos++) {
		/* counts have moved on to each block's end */
		if (count[pos] > next)
			spread_entries(r, g->slots[slot + pos], entries + next, count[pos] - next);
		next = count[pos];
	}
	free(entries);
	return 0;
}

/* ---- tracks ------------------------------------------------------------------------------- */

/* A horizontal line to place: a wire, or half of one. */
struct task {
	int32_t x[2];
	bool bottom[2];
	uint32_t wire;
	bool second;	   /* half of a dogleg */
	uint32_t above[2]; /* tasks whose tracks must be above, or NONE */
	uint32_t track;
	bool placed;
};

static int32_t left_end(const struct task *t)
{
	return t->x[0] < t->x[1] ? t->x[0] : t->x[1];
}

static int32_t right_end(const struct task *t)
{
	return t->x[0] < t->x[1] ? t->x[1] : t->x[0];
}

/* From the top: turns below sources, short ones first; then what goes right, the rightmost first,
 * and what goes left, the leftmost first, which then do not cross; then turns above targets. */
static int task_class(const struct task *t)
{
	if (t->bottom[0] == t->bottom[1])
		return t->bottom[0] ? 3 : 0;
	return (t->x[0] < t->x[1]) != t->bottom[0] ? 1 : 2;
}

static int32_t upper_end(const struct task *t)
{
	return t->bottom[0] ? t->x[1] : t->x[0];
}

static int compare_tasks(const void *a, const void *b)
{
	const struct task *x = a, *y = b;
	int cx = task_class(x), cy = task_class(y);
	int64_t kx, ky;

	if (cx != cy)
		return cx < cy ? -1 : 1;
	if (cx == 0 || cx == 3) {
		kx = right_end(x) - left_end(x);
		ky = right_end(y) - left_end(y);
		if (cx == 3) {
			kx = -kx;
			ky = -ky;
		}
	} else {
		kx = cx == 1 ? -(int64_t)upper_end(x) : upper_end(x);
		ky = cx == 1 ? -(int64_t)upper_end(y) : upper_end(y);
	}
	if (kx != ky)
		return kx < ky ? -1 : 1;
	return x->wire < y->wire ? -1 : x->wire > y->wire;
}

static uint32_t find_track(const struct router *r, const struct task *t, uint32_t least)
{
	uint64_t taken = 0, free_rows;
	uint32_t high = 0, track;

	for (int32_t x = left_end(t); x <= right_end(t); x++) {
		taken |= r->taken[x];
		high = r->high[x] > high ? r->high[x] : high;
	}
	track = taken ? (uint32_t)(64 - __builtin_clzll(taken)) : 0;
	track = track > least ? track : least;
	if (!high && track < SOFT_ROWS)
		return track;
	free_rows = least < MASK_ROWS ? ~taken & (UINT64_MAX << least) : 0;
	if (free_rows)
		return (uint32_t)__builtin_ctzll(free_rows);
	track = high > MASK_ROWS ? high : MASK_ROWS;
	return track > least ? track : least;
}

static void place_task(struct router *r, struct task *tasks, struct task *t)
{
	uint32_t least = 0;

	for (int i = 0; i < 2; i++) {
		if (t->above[i] != NONE && tasks[t->above[i]].track + 1 > least)
			least = tasks[t->above[i]].track + 1;
	}
	t->track = find_track(r, t, least);
	t->placed = true;
	for (int32_t x = left_end(t); x <= right_end(t); x++) {
		if (t->track < MASK_ROWS)
			r->taken[x] |= UINT64_C(1) << t->track;
		else if (r->high[x] < t->track + 1)
			r->high[x] = t->track + 1;
	}
}

/* A column near x in which no wire of the channel ends. */
static int32_t free_column(const struct router *r, const struct task *tasks, uint32_t cnt,
			   int32_t x)
{
	for (int32_t d = 1; d < r->g->w; d++) {
		for (int32_t sign = -1; sign <= 1; sign += 2) {
			int32_t at = x + sign * d;
			bool used = at < 0 || at >= r->g->w || r->top_owner[at] != NONE;

			for (uint32_t i = 0; i < cnt && !used; i++)
				used = tasks[i].x[0] == at || tasks[i].x[1] == at;
			if (!used)
				return at;
		}
	}
	return -1;
}

/* Cuts a task that waits for one that waits for it, at a column that is free: its upper half waits
 * for nobody. */
static void split(struct router *r, struct task *tasks, uint32_t *cnt, uint32_t i)
{
	struct task *t = &tasks[i], *half = &tasks[*cnt];
	int lower = t->bottom[0] ? 0 : 1;
	int32_t mid = free_column(r, tasks, *cnt, t->x[!lower]);

	if (mid < 0) { /* every column is in use: the lines will touch */
		t->above[0] = t->above[1] = NONE;
		return;
	}
	*half = *t;
	half->second = true;
	half->x[!lower] = mid;
	half->above[1] = i;
	t->x[lower] = mid;
	t->above[0] = t->above[1] = NONE;
	r->wires[t->wire].mid = mid;
	(*cnt)++;
}

/* Room for two tasks a wire, because each may be split once. */
static void assign_tracks(struct router *r, struct task *tasks, uint32_t cnt)
{
	uint32_t left = cnt, *task_of = r->list;

	qsort(tasks, cnt, sizeof(*tasks), compare_tasks);
	for (uint32_t i = 0; i < cnt; i++)
		task_of[r->wires[tasks[i].wire].track] = i; /* track: number in the channel */
	for (uint32_t i = 0; i < cnt; i++) {
		struct task *t = &tasks[i];

		for (int end = 0; end < 2; end++) {
			uint32_t owner = t->bottom[end] ? r->top_owner[t->x[end]] : NONE;

			t->above[end] = NONE;
			if (owner == NONE || owner == t->wire ||
			    r->wires[owner].x[0] == r->wires[owner].x[1])
				continue;
			t->above[end] = task_of[r->wires[owner].track];
		}
		/* split() relies on the first being the one of a simple wire */
		if (t->above[0] == NONE) {
			t->above[0] = t->above[1];
			t->above[1] = NONE;
		}
	}
	while (left) {
		bool any = false;

		for (uint32_t i = 0; i < cnt; i++) {
			struct task *t = &tasks[i];
			bool ready = !t->placed;

			for (int k = 0; k < 2 && ready; k++)
				ready = t->above[k] == NONE || tasks[t->above[k]].placed;
			if (!ready)
				continue;
			place_task(r, tasks, t);
			any = true;
			left--;
		}
		for (uint32_t i = 0; i < cnt && !any; i++) {
			uint32_t before = cnt;

			/* second halves and turns above targets are in no cycle */
			if (tasks[i].placed || tasks[i].second || task_class(&tasks[i]) == 3)
				continue;
			split(r, tasks, &cnt, i);
			left += cnt - before;
			any = true;
		}
	}
}

static void route_channel(struct router *r, uint32_t channel)
{
	uint32_t first = r->channel_first[channel], end = r->channel_first[channel + 1], cnt = 0;
	struct task *tasks = r->tasks;
	int32_t rows = 0;

	for (uint32_t i = first; i < end; i++) {
		struct wire *wire = &r->wires[r->by_channel[i]];

		if (wire->x[0] == wire->x[1] && wire->bottom[0] != wire->bottom[1])
			continue;
		tasks[cnt] = (struct task){ .wire = r->by_channel[i] };
		wire->track = cnt++;
		for (int k = 0; k < 2; k++) {
			tasks[cnt - 1].x[k] = wire->x[k];
			tasks[cnt - 1].bottom[k] = wire->bottom[k];
		}
	}
	assign_tracks(r, tasks, cnt);
	for (uint32_t i = 0; i < 2 * cnt; i++) {
		const struct task *t = &tasks[i];

		if (!t->placed)
			continue;
		for (int32_t x = left_end(t); x <= right_end(t); x++) {
			r->taken[x] = 0;
			r->high[x] = 0;
		}
		if ((int32_t)t->track >= rows)
			rows = (int32_t)t->track + 1;
	}
	for (uint32_t i = 0; i < 2 * cnt; i++) {
		const struct task *t = &tasks[i];
		struct wire *wire = &r->wires[t->wire];

		if (!t->placed)
			continue;
		/* the upper half of a wire that goes up comes last in its direction */
		if (wire->mid >= 0 && t->second != wire->bottom[0])
			wire->track2 = t->track;
		else
			wire->track = t->track;
	}
	memset(tasks, 0, 2 * (size_t)cnt * sizeof(*tasks));
	/* there is always a row between a block and the next */
	if (!rows && channel && channel < r->g->layer_cnt)
		rows = 1;
	r->channel_rows[channel] = rows;
}

static int route_channels(struct router *r)
{
	for (uint32_t channel = 0; channel <= r->g->layer_cnt; channel++) {
		uint32_t first = r->channel_first[channel], end = r->channel_first[channel + 1];
		int ret;

		if (!(channel & 63) && lay_cancelled(r->g))
			return -ECANCELED;
		for (uint32_t i = first; i < end; i++) {
			const struct wire *wire = &r->wires[r->by_channel[i]];

			for (int k = 0; k < 2; k++) {
				if (!wire->bottom[k])
					r->top_owner[wire->x[k]] = r->by_channel[i];
			}
		}
		ret = choose_entries(r, channel);
		if (ret)
			return ret;
		route_channel(r, channel);
		for (uint32_t i = first; i < end; i++) {
			const struct wire *wire = &r->wires[r->by_channel[i]];

			for (int k = 0; k < 2; k++) {
				if (!wire->bottom[k])
					r->top_owner[wire->x[k]] = NONE;
			}
		}
	}
	return 0;
}

/* ---- rows and points ---------------------------------------------------------------------- */

/* Fills channel_rows with the first row of each channel. */
static int assign_rows(struct router *r)
{
	struct lay_graph *g = r->g;
	int64_t y = 0;

	for (uint32_t layer = 0; layer <= g->layer_cnt; layer++) {
		int32_t rows = r->channel_rows[layer], height = 0;

		r->channel_rows[layer] = (int32_t)y;
		y += rows;
		if (layer == g->layer_cnt)
			break;
		for (uint32_t s = g->layer_first[layer]; s < g->layer_first[layer + 1]; s++) {
			struct lay_node *node = &g->nodes[g->slots[s]];

			node->y = (int32_t)y;
			height = node->h > height ? node->h : height;
		}
		y += height;
		if (y > 1 << 30)
			return -E2BIG;
	}
	g->h = (int32_t)y;
	return 0;
}

static int add_point(struct lay_graph *g, uint32_t first, int32_t x, int32_t y)
{
	struct loupe_point *p = g->points + g->point_cnt;
	uint32_t cnt = g->point_cnt - first;

	if (g->point_cnt == g->point_size) {
		uint32_t size = g->point_size ? 2 * g->point_size : 256;

		p = realloc(g->points, size * sizeof(*p));
		if (!p)
			return -ENOMEM;
		g->points = p;
		g->point_size = size;
		p += g->point_cnt;
	}
	if (cnt && p[-1].x == x && p[-1].y == y)
		return 0;
	if (cnt > 1 &&
	    ((p[-2].x == p[-1].x && p[-1].x == x) || (p[-2].y == p[-1].y && p[-1].y == y))) {
		p[-1] = (struct loupe_point){ x, y };
		return 0;
	}
	*p = (struct loupe_point){ x, y };
	g->point_cnt++;
	return 0;
}

static int make_route(struct router *r, uint32_t e)
{
	struct lay_graph *g = r->g;
	const struct lay_edge *edge = &g->edges[e];
	const struct lay_node *from = &g->nodes[edge->from], *to = &g->nodes[edge->to];
	uint32_t first = g->point_cnt, w = r->wire_first[e], end = r->wire_first[e + 1];
	int ret = add_point(g, first, r->wires[w].x[0], from->y + from->h - 1);

	for (; w < end && !ret; w++) {
		const struct wire *wire = &r->wires[w];
		int32_t y = r->channel_rows[wire->channel] + (int32_t)wire->track;

		if (wire->x[0] == wire->x[1] && wire->bottom[0] != wire->bottom[1])
			continue;
		ret = add_point(g, first, wire->x[0], y);
		if (!ret && wire->mid >= 0) {
			ret = add_point(g, first, wire->mid, y);
			y = r->channel_rows[wire->channel] + (int32_t)wire->track2;
			if (!ret)
				ret = add_point(g, first, wire->mid, y);
		}
		if (!ret)
			ret = add_point(g, first, wire->x[1], y);
	}
	if (!ret)
		ret = add_point(g, first, r->wires[end - 1].x[1], to->y);
	return ret;
}

static int make_routes(struct router *r)
{
	struct lay_graph *g = r->g;
	int ret = assign_rows(r);

	for (uint32_t e = 0; e < g->edge_cnt && !ret; e++) {
		g->route_first[e] = g->point_cnt;
		ret = make_route(r, e);
	}
	g->route_first[g->edge_cnt] = g->point_cnt;
	return ret;
}

static int allocate(struct router *r)
{
	const struct lay_graph *g = r->g;
	size_t wires = 1, columns = (size_t)g->w + 1, most = g->layer_cnt + 2;

	for (uint32_t e = 0; e < g->edge_cnt; e++)
		wires += g->edges[e].cut ? 1 : g->edges[e].dummy_cnt + 1;
	for (uint32_t layer = 0; layer < g->layer_cnt; layer++) {
		size_t cnt = g->layer_first[layer + 1] - g->layer_first[layer] + 2;

		most = cnt > most ? cnt : most;
	}
	most = wires > most ? wires : most;
	r->wires = malloc(wires * sizeof(*r->wires));
	r->wire_first = malloc(((size_t)g->edge_cnt + 1) * sizeof(*r->wire_first));
	r->channel_first = calloc((size_t)g->layer_cnt + 2, sizeof(*r->channel_first));
	r->by_channel = malloc(wires * sizeof(*r->by_channel));
	r->channel_rows = calloc((size_t)g->layer_cnt + 1, sizeof(*r->channel_rows));
	r->top_owner = malloc(columns * sizeof(*r->top_owner));
	r->taken = calloc(columns, sizeof(*r->taken));
	r->high = calloc(columns, sizeof(*r->high));
	r->list = calloc(most, sizeof(*r->list));
	if (!r->wires || !r->wire_first || !r->channel_first || !r->by_channel ||
	    !r->channel_rows || !r->top_owner || !r->taken || !r->high || !r->list)
		return -ENOMEM;
	for (size_t x = 0; x < columns; x++)
		r->top_owner[x] = NONE;
	return 0;
}

int lay_route(struct lay_graph *g)
{
	struct router r = { .g = g };
	uint32_t widest = 0;
	int ret = allocate(&r);

	g->route_first = calloc((size_t)g->edge_cnt + 1, sizeof(*g->route_first));
	if (!ret && !g->route_first)
		ret = -ENOMEM;
	if (!ret) {
		make_wires(&r);
		for (uint32_t c = 0; c <= g->layer_cnt; c++) {
			uint32_t cnt = r.channel_first[c + 1] - r.channel_first[c];

			widest = cnt > widest ? cnt : widest;
		}
		r.tasks = calloc(2 * (size_t)widest + 1, sizeof(*r.tasks));
		ret = r.tasks ? route_channels(&r) : -ENOMEM;
	}
	if (!ret)
		ret = make_routes(&r);
	free(r.wires);
	free(r.wire_first);
	free(r.channel_first);
	free(r.by_channel);
	free(r.channel_rows);
	free(r.top_owner);
	free(r.taken);
	free(r.high);
	free(r.list);
	free(r.tasks);
	return ret;
}
