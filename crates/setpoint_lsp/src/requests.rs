//! What the editor asks, and the answers.

use std::path::{Path, PathBuf};

use lsp_server::{ErrorCode, Request, RequestId};
use lsp_types::request::{
    CodeActionRequest, DocumentSymbolRequest, Formatting, GotoDefinition, HoverRequest, Request as _,
};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, HoverProviderCapability, OneOf,
    SaveOptions, ServerCapabilities, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextDocumentSyncSaveOptions, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};
use setpoint_source::{FileSystem, Range, read_text};

use crate::findings::{Finding, Mending};
use crate::positions::{Encoding, Lines};
use crate::server::Server;
use crate::{At, Symbol, SymbolKind, address};

/// What the server can do.
pub(crate) fn capabilities(encoding: Encoding, version: &str) -> Json {
    let capabilities = ServerCapabilities {
        position_encoding: Some(encoding.kind()),
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    };
    json!({"capabilities": capabilities, "serverInfo": {"name": "setpoint", "version": version}})
}

pub(crate) fn answer(server: &Server, request: Request) {
    let Request { id, method, params } = request;
    match method.as_str() {
        HoverRequest::METHOD => with(server, id, params, hover),
        GotoDefinition::METHOD => with(server, id, params, definition),
        DocumentSymbolRequest::METHOD => with(server, id, params, symbols),
        CodeActionRequest::METHOD => with(server, id, params, actions),
        Formatting::METHOD => with(server, id, params, formatting),
        _ => {
            let message = format!("`{method}` is not known here");
            server.refuse(id, ErrorCode::MethodNotFound, &message);
        }
    }
}

/// Reads the parameters, or says what is wrong with them.
fn with<P: DeserializeOwned>(
    server: &Server,
    id: RequestId,
    params: Json,
    handle: impl FnOnce(&Server, RequestId, &P),
) {
    match serde_json::from_value(params) {
        Ok(params) => handle(server, id, &params),
        Err(error) => server.refuse(id, ErrorCode::InvalidParams, &error.to_string()),
    }
}

/// An open file and the offset of a place in it.
fn asked_about(server: &Server, at: &TextDocumentPositionParams) -> Option<(PathBuf, u32)> {
    let path = address::path(&at.text_document.uri)?;
    let text = &server.documents.get(&path)?.text;
    let offset = Lines::new(text, server.encoding).offset(at.position);
    Some((path, offset))
}

fn hover(server: &Server, id: RequestId, params: &lsp_types::HoverParams) {
    let encoding = server.encoding;
    let Some((path, offset)) = asked_about(server, &params.text_document_position_params) else {
        return server.answer(id, Json::Null);
    };
    let mut explained: Vec<(Range, String)> = Vec::new();
    for found in findings_at(server, &path, Range { start: offset, end: offset }) {
        let explanation = found.explanation();
        if !explained.iter().any(|(_, known)| *known == explanation) {
            explained.push((found.place.range, explanation));
        }
    }
    let scope = server.scope(&path).unwrap_or_else(|| path.clone());
    let question = move |analyst: &dyn crate::Analyst, files: &dyn FileSystem| {
        let told = analyst.hover(files, &At { scope: &scope, path: &path, offset });
        let Ok(text) = read_text(files, &path) else { return Json::Null };
        let mut range = told.as_ref().map(|told| told.range);
        let mut parts: Vec<String> = told.into_iter().map(|told| told.markdown).collect();
        for (of, explanation) in explained {
            range.get_or_insert(of);
            parts.push(explanation);
        }
        let Some(range) = range else { return Json::Null };
        let range = Lines::new(&text, encoding).range(range);
        json!({"contents": {"kind": "markdown", "value": parts.join("\n\n---\n\n")}, "range": range})
    };
    server.workers.ask(id, server.documents.unsaved(), Box::new(question));
}

fn definition(server: &Server, id: RequestId, params: &lsp_types::GotoDefinitionParams) {
    let encoding = server.encoding;
    let Some((path, offset)) = asked_about(server, &params.text_document_position_params) else {
        return server.answer(id, Json::Null);
    };
    let scope = server.scope(&path).unwrap_or_else(|| path.clone());
    let open = open_addresses(server);
    let question = move |analyst: &dyn crate::Analyst, files: &dyn FileSystem| {
        let targets = analyst.definition(files, &At { scope: &scope, path: &path, offset });
        let place = |target: crate::Target| {
            let path = setpoint_source::normal(&target.path);
            let known = open.iter().find(|(open, _)| *open == path);
            let uri = known.map(|(_, uri)| uri.clone()).or_else(|| address::uri(&path))?;
            let text = read_text(files, &path).ok()?;
            Some(json!({"uri": uri, "range": Lines::new(&text, encoding).range(target.range)}))
        };
        targets.into_iter().filter_map(place).collect()
    };
    server.workers.ask(id, server.documents.unsaved(), Box::new(question));
}

fn open_addresses(server: &Server) -> Vec<(PathBuf, Uri)> {
    server.documents.0.iter().map(|(path, document)| (path.clone(), document.uri.clone())).collect()
}

fn symbols(server: &Server, id: RequestId, params: &lsp_types::DocumentSymbolParams) {
    let encoding = server.encoding;
    let Some(path) = address::path(&params.text_document.uri) else { return server.answer(id, Json::Null) };
    let question = move |analyst: &dyn crate::Analyst, files: &dyn FileSystem| {
        let Ok(text) = read_text(files, &path) else { return Json::Null };
        let lines = Lines::new(&text, encoding);
        analyst.symbols(files, &path).iter().map(|symbol| shown(symbol, &lines)).collect()
    };
    server.workers.ask(id, server.documents.unsaved(), Box::new(question));
}

fn shown(symbol: &Symbol, lines: &Lines<'_>) -> Json {
    let kind = match symbol.kind {
        SymbolKind::Class => lsp_types::SymbolKind::CLASS,
        SymbolKind::Type => lsp_types::SymbolKind::INTERFACE,
        SymbolKind::Function => lsp_types::SymbolKind::FUNCTION,
        SymbolKind::Object => lsp_types::SymbolKind::OBJECT,
        SymbolKind::Resource => lsp_types::SymbolKind::STRUCT,
        SymbolKind::Section => lsp_types::SymbolKind::NAMESPACE,
        SymbolKind::Value => lsp_types::SymbolKind::PROPERTY,
    };
    // Editors refuse an empty name, and a name that lies outside of its symbol.
    let name = if symbol.name.trim().is_empty() { "(no name)" } else { &symbol.name };
    let children: Vec<Json> = symbol.children.iter().map(|child| shown(child, lines)).collect();
    json!({
        "name": name,
        "detail": symbol.detail,
        "kind": kind,
        "range": lines.range(symbol.range.to(symbol.name_range)),
        "selectionRange": lines.range(symbol.name_range),
        "children": children,
    })
}

/// The changes that mend what was found at a place.
fn actions(server: &Server, id: RequestId, params: &lsp_types::CodeActionParams) {
    let wanted = params.context.only.as_ref();
    let is_wanted =
        wanted.is_none_or(|kinds| kinds.iter().any(|kind| matches!(kind.as_str(), "" | "quickfix")));
    let path = address::path(&params.text_document.uri).filter(|_| is_wanted);
    let document = path.as_deref().and_then(|path| Some((path, server.documents.get(path)?)));
    let Some((path, document)) = document else { return server.answer(id, json!([])) };
    let range = Lines::new(&document.text, server.encoding).offsets(params.range);
    let mut actions: Vec<Json> = Vec::new();
    for found in findings_at(server, path, range) {
        let Some(action) = found.fix.as_ref().and_then(|fix| action(server, fix)) else { continue };
        if !actions.contains(&action) {
            actions.push(action);
        }
    }
    server.answer(id, actions);
}

fn action(server: &Server, fix: &Mending) -> Option<Json> {
    let mut changes = Map::new();
    for (place, replacement) in &fix.edits {
        let text = match server.documents.get(&place.path) {
            Some(document) => document.text.to_string(),
            None => server.findings_of(&place.path).find_map(|found| found.text(&place.path))?.to_string(),
        };
        let range = Lines::new(&text, server.encoding).range(place.range);
        let edits = changes.entry(server.uri(&place.path)?.as_str()).or_insert_with(|| json!([]));
        edits.as_array_mut()?.push(json!({"range": range, "newText": replacement}));
    }
    Some(json!({"title": fix.title, "kind": "quickfix", "isPreferred": true, "edit": {"changes": changes}}))
}

/// The findings that touch a range.
fn findings_at<'a>(server: &'a Server, path: &'a Path, range: Range) -> impl Iterator<Item = &'a Finding> {
    let touches = move |found: &&Finding| {
        let place = found.place.range;
        place.start <= range.end && range.start <= place.end
    };
    server.findings_of(path).flat_map(move |found| found.of(path)).filter(touches)
}

fn formatting(server: &Server, id: RequestId, params: &lsp_types::DocumentFormattingParams) {
    let encoding = server.encoding;
    let Some(path) = address::path(&params.text_document.uri) else { return server.answer(id, Json::Null) };
    let question = move |analyst: &dyn crate::Analyst, files: &dyn FileSystem| {
        let Ok(text) = read_text(files, &path) else { return Json::Null };
        match analyst.format(files, &path) {
            None => Json::Null,
            Some(formatted) if formatted == text => json!([]),
            Some(formatted) => {
                let range = Lines::new(&text, encoding).range(Range::new(0, text.len()));
                json!([{"range": range, "newText": formatted}])
            }
        }
    };
    server.workers.ask(id, server.documents.unsaved(), Box::new(question));
}
